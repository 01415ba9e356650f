// Calls to the external signer over its unix socket, and what a failed one is called.
import type { Clock } from '../../lib/async/clock.js';
import { GrpcConnection } from '../../outbound/grpc.js';
import { GrpcError } from '../../outbound/grpc-error.js';
import { grpcStatusName, LazyGrpc } from '../../outbound/lazy-grpc.js';

export interface SignerClient {
  /** Throws a SignerError. */
  call(method: SignerMethod, message: Buffer, timeoutMs: number): Promise<Buffer>;
  close(): void;
}

export type SignerMethod = 'Sign' | 'FetchKeys' | 'Metadata';

/** A call that failed; `code` is the name of gRPC's status. */
export class SignerError extends Error {
  constructor(
    readonly code: string,
    description: string,
  ) {
    super(`rpc error: code = ${code} desc = ${description}`);
  }
}

export interface SignerClientOptions {
  readonly unixPath: string;
  readonly clock: Clock;
  readonly observe: (method: string, code: string, seconds: number) => void;
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export function createSignerClient({ unixPath, clock, observe }: SignerClientOptions): SignerClient {
  const connect = (): Promise<GrpcConnection> =>
    GrpcConnection.open({ unixPath }, { maxMessageBytes: MAX_ANSWER_BYTES });
  const calls = new LazyGrpc({ connect, clock, observe });
  return {
    async call(method, message, timeoutMs) {
      try {
        return await calls.call(`/v1.ExternalJWTSigner/${method}`, message, timeoutMs);
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error;
        throw new SignerError(grpcStatusName(error.status), error.message);
      }
    },
    close: () => calls.close(),
  };
}
