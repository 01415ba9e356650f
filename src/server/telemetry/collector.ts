// The collector of traces: OpenTelemetry's service over gRPC, connected to when there is something to send.
import type { Dialer } from '../../outbound/dialer.js';
import { GrpcConnection } from '../../outbound/grpc.js';
import { GrpcError } from '../../outbound/grpc-error.js';
import type { GrpcTarget } from '../../outbound/grpc-target.js';
import { RetryableFailure } from '../../tracing/span-queue.js';

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const CALL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const DEFAULT_ENDPOINT = 'localhost:4317';
const DEFAULT_PORT = 443;
/** Canceled, deadline exceeded, aborted, out of range, unavailable, data loss: it may be otherwise the next time. */
const RETRYABLE: ReadonlySet<number> = new Set([1, 4, 10, 11, 14, 15]);

/** An endpoint in gRPC's notation, which was validated: `host:port`, `dns://…/host:port`, `unix:///path`. */
export function collectorAt(endpoint = DEFAULT_ENDPOINT, dialer: Dialer): GrpcTarget {
  const unix = /^unix:(?:\/\/)?(.*)$/.exec(endpoint)?.[1];
  if (unix !== undefined) return { unixPath: unix };
  const abstract = /^unix-abstract:(?:\/\/)?(.*)$/.exec(endpoint)?.[1];
  if (abstract !== undefined) return { unixPath: `\0${abstract}` };
  // Between the slashes stands which name server resolves it; ours is the machine's.
  const address = endpoint.replace(/^dns:(?:\/\/[^/]*\/)?/, '');
  const hasPort = /:\d+$/.test(address);
  return { url: `http://${hasPort ? address : `${address}:${DEFAULT_PORT}`}`, tls: {}, dialer };
}

export class Collector {
  readonly #target: GrpcTarget;
  #connection: Promise<GrpcConnection> | undefined;

  constructor(target: GrpcTarget) {
    this.#target = target;
  }

  /** Fails with a RetryableFailure when it may be retried. Stops when `signal` aborts. */
  async send(message: Buffer, signal: AbortSignal): Promise<void> {
    const stop = (): void => this.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const connection = await this.#connected();
      await connection.call(EXPORT, message, CALL_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof GrpcError && RETRYABLE.has(error.status)) throw new RetryableFailure(error.message);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  async #connected(): Promise<GrpcConnection> {
    const known = await this.#connection?.catch(() => undefined);
    if (known?.usable === true) return known;
    this.#connection = GrpcConnection.open(this.#target, { maxMessageBytes: MAX_ANSWER_BYTES });
    return this.#connection;
  }
}
