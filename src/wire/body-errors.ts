/** The errors that reading a request's body fails with. The server injects them, so that this room knows no API errors. */
export interface BodyErrors {
  /** The rest of the body does not come. */
  broken(message: string): Error;
  tooLarge(message: string): Error;
}
