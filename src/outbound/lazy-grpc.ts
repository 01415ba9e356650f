// Calls to a service that may come up after us, or restart: each waits for it to be there, but never beyond its time.
import { Backoff } from '../lib/async/backoff.js';
import type { Clock } from '../lib/async/clock.js';
import { withTimeout } from '../lib/async/with-timeout.js';
import { errorText } from '../lib/text/error-text.js';
import { goQuote } from '../lib/go/quote.js';
import { DEADLINE_EXCEEDED, GRPC_STATUS_NAMES, GrpcError, UNKNOWN } from './grpc-error.js';

/** What a connection can do; `call` fails with a GrpcError. */
export interface GrpcCaller {
  readonly usable: boolean;
  call(method: string, message: Buffer, timeoutMs: number): Promise<Buffer>;
  close(): void;
}

export interface LazyGrpcOptions {
  readonly connect: () => Promise<GrpcCaller>;
  readonly clock: Clock;
  /** Called for each finished call; `status` is gRPC's name. */
  readonly observe?: (method: string, status: string, seconds: number) => void;
}

const RECONNECT_MIN_MS = 50;
const RECONNECT_MAX_MS = 1_000;
const NOT_YET = new Error('no connection yet');
const throwNotYet = (): never => {
  throw NOT_YET;
};

export class LazyGrpc {
  readonly #options: LazyGrpcOptions;
  #connection: Promise<GrpcCaller> | undefined;
  #closed = false;

  constructor(options: LazyGrpcOptions) {
    this.#options = options;
  }

  /** `timeoutMs`: for the call and all it waits for. Rejects with a GrpcError. */
  async call(method: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    const { clock, observe } = this.#options;
    const beganMs = clock.now();
    const report = (status: number): void => observe?.(method, grpcStatusName(status), (clock.now() - beganMs) / 1000);
    try {
      const answer = await this.#callInTime(method, message, beganMs + timeoutMs);
      report(0);
      return answer;
    } catch (error) {
      const failure =
        error instanceof GrpcError ? error : new GrpcError({ status: UNKNOWN, message: errorText(error), sent: true });
      report(failure.status);
      throw failure;
    }
  }

  close(): void {
    this.#closed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  async #callInTime(method: string, message: Buffer, endMs: number): Promise<Buffer> {
    const { clock } = this.#options;
    const backoff = new Backoff({ firstMs: RECONNECT_MIN_MS, maxMs: RECONNECT_MAX_MS });
    let why = '';
    for (;;) {
      const leftMs = endMs - clock.now();
      if (leftMs <= 0 || this.#closed) throw outOfTime(why);
      try {
        const connection = await withTimeout(this.#connected(), { ms: leftMs, clock, onTimeout: throwNotYet });
        return await connection.call(method, message, Math.max(1, endMs - clock.now()));
      } catch (error) {
        if (error instanceof GrpcError && error.sent) throw error;
        // Why there was none before says more than that there is none yet.
        if (error !== NOT_YET) why = (error instanceof GrpcError ? error.dialing : errorText(error)) ?? why;
      }
      await this.#pause(Math.min(backoff.next(), Math.max(0, endMs - clock.now())));
    }
  }

  async #connected(): Promise<GrpcCaller> {
    const known = await this.#connection?.catch(() => undefined);
    if (known?.usable) return known;
    if (this.#closed) throw new Error('the client is closed');
    return (this.#connection = this.#options.connect());
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(ms, resolve));
  }
}

export const grpcStatusName = (status: number): string => GRPC_STATUS_NAMES[status] ?? `Code(${status})`;

/** In the words of kube-apiserver's client: what was last in the way, where anything was but time. */
function outOfTime(why: string): GrpcError {
  const detail = why.startsWith('dial ') ? `transport: Error while dialing: ${why}` : why;
  const message =
    why === ''
      ? 'context deadline exceeded while waiting for connections to become ready'
      : `latest balancer error: connection error: desc = ${goQuote(detail)}`;
  return new GrpcError({ status: DEADLINE_EXCEEDED, message, sent: false });
}
