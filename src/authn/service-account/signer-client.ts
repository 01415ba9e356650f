// Calls to the external signer over its unix socket. The signer may come up after us, or restart: a call waits for it
// until its time is over.
import type { Clock } from '../../lib/clock.js';
import { errorText } from '../../lib/error-text.js';
import { DEADLINE_EXCEEDED, GrpcConnection, GrpcError, GRPC_STATUS_NAMES } from '../../outbound/grpc.js';

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
const RECONNECT_MS = 500;

export function createSignerClient({ unixPath, clock, observe }: SignerClientOptions): SignerClient {
  let connection: Promise<GrpcConnection> | undefined;

  const connected = async (deadlineMs: number): Promise<GrpcConnection> => {
    for (;;) {
      const known = await connection?.catch(() => undefined);
      if (known?.usable) return known;
      try {
        connection = GrpcConnection.open({ unixPath }, { maxMessageBytes: MAX_ANSWER_BYTES });
        return await connection;
      } catch (error) {
        connection = undefined;
        if (clock.now() + RECONNECT_MS >= deadlineMs) {
          const why = `context deadline exceeded while waiting for connections to become ready: ${errorText(error)}`;
          throw new GrpcError({ status: DEADLINE_EXCEEDED, message: why, sent: false });
        }
        await new Promise<void>((resolve) => void clock.after(RECONNECT_MS, resolve));
      }
    }
  };

  return {
    async call(method, message, timeoutMs) {
      const path = `/v1.ExternalJWTSigner/${method}`;
      const startedMs = clock.now();
      let code = 'OK';
      try {
        const ready = await connected(startedMs + timeoutMs);
        return await ready.call(path, message, Math.max(1, startedMs + timeoutMs - clock.now()));
      } catch (error) {
        code = error instanceof GrpcError ? (GRPC_STATUS_NAMES[error.status] ?? 'Unknown') : 'Unknown';
        throw new SignerError(code, errorText(error));
      } finally {
        observe(path, code, (clock.now() - startedMs) / 1000);
      }
    },
    close() {
      connection?.then((open) => open.close()).catch(() => undefined);
    },
  };
}
