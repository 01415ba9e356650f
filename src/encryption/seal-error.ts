// What failed, and the status that metrics tell it by: a key service's own, or that none was asked.
export const NO_SERVICE = 'unknown-non-grpc';

export class SealError extends Error {
  constructor(
    message: string,
    /** `Unavailable`, `DeadlineExceeded`, … */
    readonly status: string,
  ) {
    super(message);
  }
}

export const statusOf = (error: unknown): string => (error instanceof SealError ? error.status : NO_SERVICE);
