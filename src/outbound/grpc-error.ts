export interface GrpcFailure {
  /** gRPC's status number; 14 where there is no connection, or none any more. */
  readonly status: number;
  readonly message: string;
  /** The server may have acted on the request. */
  readonly sent: boolean;
  /** Where nobody was reached: what was in the way, in kube-apiserver's words. */
  readonly dialing?: string | undefined;
}

export class GrpcError extends Error {
  readonly status: number;
  readonly sent: boolean;
  readonly dialing: string | undefined;

  constructor({ status, message, sent, dialing }: GrpcFailure) {
    super(message);
    this.status = status;
    this.sent = sent;
    this.dialing = dialing;
  }
}

/** All went well, says the server, and has no answer, or no further one: gRPC has no status for that. */
export class NoAnswer extends GrpcError {
  constructor() {
    super({ status: UNKNOWN, message: 'EOF', sent: true });
  }
}

/** What gRPC calls its statuses, by their number. */
export const GRPC_STATUS_NAMES: readonly string[] = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];

export const UNKNOWN = 2;
export const DEADLINE_EXCEEDED = 4;
export const RESOURCE_EXHAUSTED = 8;
export const INTERNAL = 13;
export const UNAVAILABLE = 14;
