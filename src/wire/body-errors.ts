/** What whoever reads the body of a request gets instead of it. The room that serves says what they look like. */
export interface BodyErrors {
  /** The rest of the body does not come. */
  broken(message: string): Error;
  tooLarge(message: string): Error;
}
