import { GrpcError, INTERNAL } from './grpc-error.js';
import type { Outcome } from './grpc-outcome.js';

/** What was thrown, as the outcome of a call. */
export function failureOf(error: unknown): Outcome {
  if (error instanceof GrpcError) return { status: error.status, message: error.message };
  return { status: INTERNAL, message: describeError(error) };
}

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message !== '' || !('code' in error) ? error.message : String(error.code);
}
