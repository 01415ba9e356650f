// What failed, and its status in metrics: a KMS plugin's own, or that none was called.
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
