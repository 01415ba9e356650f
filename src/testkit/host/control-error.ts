/** What a client of the control socket did wrong, in a sentence for whoever wrote it. */
export class ControlError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
