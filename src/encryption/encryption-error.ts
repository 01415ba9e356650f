// What failed, and the status that metrics tell it by: a KMS plugin's own, or that none was asked.
export const NO_SERVICE = 'unknown-non-grpc';

export class EncryptionError extends Error {
  constructor(
    message: string,
    /** `Unavailable`, `DeadlineExceeded`, … */
    readonly status: string,
  ) {
    super(message);
  }
}

export const statusOf = (error: unknown): string => (error instanceof EncryptionError ? error.status : NO_SERVICE);
