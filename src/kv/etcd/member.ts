// One member of an etcd cluster: its connection, and whether it answers. A connection says little about that: a member
// that hangs keeps its connections, and the kernel accepts new ones for it. So each connected member is probed with a
// small call, and one that leaves a probe unanswered is silent until it answers again. Nothing is closed for that: a
// write that is under way on a silent member may still be answered.
import type { Clock } from '../../lib/async/clock.js';
import type { GrpcStream, Metadata } from '../../outbound/grpc.js';
import { DEADLINE_EXCEEDED, GrpcError, UNAVAILABLE } from '../../outbound/grpc-error.js';
import type { Trace } from '../../tracing/trace.js';
import { tracedCall } from '../../outbound/traced-grpc.js';

/** What a member needs of a connection; `GrpcConnection` is one. */
export interface MemberConnection {
  readonly peer: { readonly address: string; readonly port: number };
  readonly usable: boolean;
  onClose(listener: () => void): void;
  close(): void;
  call(method: string, message: Buffer, timeoutMs: number, metadata?: Metadata): Promise<Buffer>;
  stream(
    method: string,
    take: (message: Buffer) => void | Promise<void>,
    ended: (error: GrpcError) => void,
    metadata?: Metadata,
  ): GrpcStream;
}

export interface MemberOptions {
  readonly url: string;
  readonly connect: () => Promise<MemberConnection>;
  readonly clock: Clock;
  /** A connection is there, or a silent member answers again. */
  readonly onAnswers: () => void;
  /** The member stopped answering; its connection is still there. */
  readonly onSilent: (member: Member) => void;
}

export interface MemberCall {
  readonly method: string;
  readonly message: Buffer;
  readonly timeoutMs: number;
  readonly trace: Trace | undefined;
  /** The call may be sent to another member when this member is slow. */
  readonly movable: boolean;
}

/** Members are looked at once in this time. */
export const CHECK_PERIOD_MS = 150;
/** Periods without an answer, after which a member is silent. Counted, not timed: a process that was held up for long
 * has not read what came meanwhile. */
const SILENT_AFTER_CHECKS = 4;
/** Unanswered checks after which its connection is closed. */
const CLOSED_AFTER_CHECKS = 66;
/** A read without an answer for this long is sent to another member. */
const SLOW_READ_MS = 500;
const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 10_000;

/** etcd answers it from memory, and whatever the answer is, the member is there. PING frames do not do: etcd closes
 * connections that have more than a few of them in five seconds without other traffic. */
const PROBE = '/grpc.health.v1.Health/Check';
const NO_BYTES = Buffer.alloc(0);

interface MovableRead {
  readonly sinceMs: number;
  readonly move: (why: GrpcError) => void;
}

export class Member {
  readonly url: string;
  /** Calls without an answer. */
  inFlight = 0;
  readonly #options: MemberOptions;
  readonly #reads = new Set<MovableRead>();
  #connecting: Promise<void> | undefined;
  #connection: MemberConnection | undefined;
  /** Checks since the probe that has no answer. */
  #unanswered: number | undefined;
  #silent = false;
  #failures = 0;
  /** Not chosen before this time while others can be. */
  #restsUntilMs = 0;

  constructor(options: MemberOptions) {
    this.url = options.url;
    this.#options = options;
  }

  get connection(): MemberConnection | undefined {
    return this.#connection?.usable === true ? this.#connection : undefined;
  }

  get isSilent(): boolean {
    return this.#silent;
  }

  get restsUntilMs(): number {
    return this.#restsUntilMs;
  }

  /** Resolves when the connection is established; concurrent callers share one attempt. */
  connect(): Promise<void> {
    if (this.connection !== undefined) return Promise.resolve();
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  // hot: every read and write
  async call(call: MemberCall): Promise<Buffer> {
    const { connection } = this;
    if (connection === undefined) {
      throw new GrpcError({ status: UNAVAILABLE, message: `${this.url}: not connected`, sent: false });
    }
    this.inFlight++;
    const { method, message, timeoutMs, trace } = call;
    const answer =
      trace === undefined
        ? connection.call(method, message, timeoutMs)
        : tracedCall(connection, trace, { method, message, timeoutMs });
    try {
      const received = await (call.movable ? this.#movable(answer) : answer);
      this.#failures = 0;
      return received;
    } catch (error) {
      if (isMemberFault(error)) this.#rest();
      throw error;
    } finally {
      this.inFlight--;
    }
  }

  /** Once in CHECK_PERIOD_MS. `others`: another member answers, so reads may move there. */
  check(others: boolean): void {
    const now = this.#options.clock.now();
    const { connection } = this;
    if (connection === undefined) {
      if (this.#restsUntilMs <= now) this.connect().catch(() => undefined);
      return;
    }
    if (others) this.#moveSlowReads(now);
    if (this.#unanswered === undefined) return this.#probe(connection);
    this.#unanswered++;
    if (this.#unanswered === SILENT_AFTER_CHECKS) {
      this.#silent = true;
      this.#rest();
      this.#options.onSilent(this);
    }
    if (this.#unanswered >= CLOSED_AFTER_CHECKS) connection.close();
  }

  close(): void {
    this.#connection?.close();
    this.#connecting?.then(
      () => this.#connection?.close(),
      () => undefined,
    );
  }

  async #open(): Promise<void> {
    let connection: MemberConnection;
    try {
      connection = await this.#options.connect();
    } catch (error) {
      this.#rest();
      throw error;
    }
    this.#connection = connection;
    this.#unanswered = undefined;
    this.#silent = false;
    this.#restsUntilMs = 0;
    connection.onClose(() => {
      if (this.#connection !== connection) return;
      this.#connection = undefined;
      // A member that accepts connections and then drops them or hangs gets a longer backoff each time.
      this.#rest();
    });
    this.#options.onAnswers();
  }

  #probe(connection: MemberConnection): void {
    this.#unanswered = 0;
    const answered = (): void => {
      if (this.#connection !== connection) return;
      this.#unanswered = undefined;
      if (!this.#silent) return;
      this.#silent = false;
      this.#restsUntilMs = 0;
      this.#options.onAnswers();
    };
    connection.call(PROBE, NO_BYTES, CLOSED_AFTER_CHECKS * CHECK_PERIOD_MS).then(answered, (error: unknown) => {
      if (error instanceof GrpcError && error.sent && error.status !== DEADLINE_EXCEEDED) answered();
    });
  }

  #movable(answer: Promise<Buffer>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const move = (why: GrpcError): void => {
        // The member still works on it.
        this.inFlight++;
        answer.then(
          () => this.inFlight--,
          () => this.inFlight--,
        );
        reject(why);
      };
      const read = { sinceMs: this.#options.clock.now(), move };
      this.#reads.add(read);
      answer.then(resolve, reject).finally(() => this.#reads.delete(read));
    });
  }

  #moveSlowReads(now: number): void {
    // In the order in which they began.
    for (const read of this.#reads) {
      if (now - read.sinceMs < SLOW_READ_MS) return;
      this.#reads.delete(read);
      const message = `${this.url}: no answer within ${SLOW_READ_MS} ms`;
      read.move(new GrpcError({ status: UNAVAILABLE, message, sent: true }));
    }
  }

  #rest(): void {
    this.#failures++;
    const pauseMs = Math.min(RETRY_MIN_MS * 2 ** (this.#failures - 1), RETRY_MAX_MS);
    this.#restsUntilMs = this.#options.clock.now() + pauseMs;
  }
}

/** The member did not answer, or says that it cannot: another may. */
const isMemberFault = (error: unknown): boolean =>
  error instanceof GrpcError && (error.status === DEADLINE_EXCEEDED || error.status === UNAVAILABLE);
