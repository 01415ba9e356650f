// The patch of a mutating webhook's answer.

export interface ParsedPatch {
  /** As it came. */
  readonly json: Buffer;
  readonly operations: () => readonly unknown[];
  /** The operations, printed for the record. */
  readonly text: () => string;
}
