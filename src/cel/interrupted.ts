/** An evaluation was stopped before its end, as whoever began it no longer waits. */
export class Interrupted extends Error {
  constructor() {
    super('an evaluation was interrupted');
  }
}
