// Calls to a key service over its socket: they wait for it to be there, but never beyond their time.
import type { Clock } from '../../lib/clock.js';
import { GRPC_STATUS_NAMES } from '../../outbound/grpc.js';
import { SealError } from '../seal-error.js';

/** What a connection can do; `call` fails with a `CallFailure`. */
export interface KeyServiceConnection {
  readonly usable: boolean;
  call(method: string, message: Buffer, timeoutMs: number): Promise<Buffer>;
  close(): void;
}

/** The members of a failed call that are looked at. */
interface CallFailure {
  /** gRPC's number. */
  readonly status: number;
  readonly message: string;
  /** False when the service cannot have seen the call. */
  readonly sent: boolean;
}

export interface KeyServiceClientOptions {
  readonly connect: () => Promise<KeyServiceConnection>;
  /** For a call and all it waits for. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly observe?: (method: string, status: string, seconds: number) => void;
}

const RECONNECT_MIN_MS = 50;
const RECONNECT_MAX_MS = 1_000;
const DEADLINE_EXCEEDED = 4;
const UNKNOWN = 2;

export class KeyServiceClient {
  #connection: Promise<KeyServiceConnection> | undefined;
  #closed = false;

  constructor(readonly options: KeyServiceClientOptions) {}

  async call(method: string, message: Buffer): Promise<Buffer> {
    const beganMs = performance.now();
    const { observe } = this.options;
    try {
      const answer = await this.#callInTime(method, message);
      observe?.(method, 'OK', (performance.now() - beganMs) / 1000);
      return answer;
    } catch (error) {
      const failure = rpcError(error);
      observe?.(method, failure.status, (performance.now() - beganMs) / 1000);
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

  async #callInTime(method: string, message: Buffer): Promise<Buffer> {
    const { clock, timeoutMs } = this.options;
    const endMs = clock.now() + timeoutMs;
    let waitMs = RECONNECT_MIN_MS;
    for (;;) {
      const leftMs = endMs - clock.now();
      if (leftMs <= 0 || this.#closed) throw outOfTime();
      const connection = await this.#withinTime(this.#connected(), leftMs);
      if (connection !== undefined) {
        try {
          return await connection.call(method, message, Math.max(1, endMs - clock.now()));
        } catch (error) {
          if (isFailure(error) && error.sent) throw error;
        }
      }
      await this.#pause(Math.min(waitMs, Math.max(0, endMs - clock.now())));
      waitMs = Math.min(waitMs * 2, RECONNECT_MAX_MS);
    }
  }

  /** Undefined when there is none, or not yet. */
  async #connected(): Promise<KeyServiceConnection | undefined> {
    const known = await this.#connection?.catch(() => undefined);
    if (known?.usable) return known;
    if (this.#closed) return undefined;
    const opening = (this.#connection = this.options.connect());
    return opening.catch(() => undefined);
  }

  async #withinTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
    let cancel = (): void => undefined;
    const late = new Promise<undefined>((resolve) => (cancel = this.options.clock.after(ms, () => resolve(undefined))));
    return Promise.race([work, late]).finally(() => cancel());
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.options.clock.after(ms, resolve));
  }
}

const outOfTime = (): SealError => statusError(DEADLINE_EXCEEDED, '');

function rpcError(error: unknown): SealError {
  if (error instanceof SealError) return error;
  return isFailure(error) ? statusError(error.status, error.message) : statusError(UNKNOWN, String(error));
}

function statusError(status: number, message: string): SealError {
  const name = GRPC_STATUS_NAMES[status] ?? `Code(${status})`;
  const description = status === DEADLINE_EXCEEDED ? 'context deadline exceeded' : message;
  return new SealError(`rpc error: code = ${name} desc = ${description}`, name);
}

const isFailure = (error: unknown): error is CallFailure =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && 'sent' in error;
