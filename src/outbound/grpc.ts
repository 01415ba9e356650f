// gRPC over one HTTP/2 connection: unary calls and two-way streams, for etcd, KMS plugins, signers, proxies and collectors.
import type { Duplex } from 'node:stream';
import { Deadlines } from '../lib/async/deadlines.js';
import { startHttp2Client } from '../wire/http2-client.js';
import type { Http2Client } from '../wire/http2/client.js';
import { type CallOwner, UnaryCall } from './grpc-call.js';
import { GrpcError, UNAVAILABLE } from './grpc-error.js';
import { describeError } from './grpc-failure.js';
import { messageHead } from './grpc-messages.js';
import { lostOutcome, type Outcome } from './grpc-outcome.js';
import { StreamingCall } from './grpc-stream.js';
import { addressedTo, dialTarget, type GrpcTarget, whereIs } from './grpc-target.js';
import { OutboundError } from './outbound-error.js';

/** As kube-apiserver's client notices a dead peer: a ping without an answer. */
const PING_PERIOD_MS = 30_000;
const PING_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** An answer larger than this is a mistake; a client may say less. */
const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024;

export interface GrpcOptions {
  readonly maxMessageBytes?: number;
  /** Until the server has said what it is. */
  readonly connectTimeoutMs?: number;
  /** Calls that have begun are about to leave. */
  readonly onFlush?: () => void;
}

/** Headers of a call; names in lower case. */
export type Metadata = Readonly<Record<string, string>>;

export interface GrpcStream {
  /** False when what was sent before has not left yet: then wait with `onceDrained`. */
  send(message: Buffer): boolean;
  onceDrained(listener: () => void): void;
  close(): void;
}

export class GrpcConnection implements CallOwner {
  readonly deadlines = new Deadlines();
  readonly maxMessageBytes: number;
  readonly #client: Http2Client;
  readonly #socket: Duplex;
  readonly #where: string;
  readonly #closeListeners: (() => void)[] = [];
  readonly #pings: NodeJS.Timeout;
  /** Somebody waits for their answers: they keep the process alive, an idle connection does not. */
  #calls = 0;

  private constructor(
    client: Http2Client,
    { socket, target, options }: { socket: Duplex; target: GrpcTarget; options: GrpcOptions },
  ) {
    this.#client = client;
    this.#socket = socket;
    this.#where = whereIs(target);
    this.maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    this.#keepsProcess(false);
    this.#pings = setInterval(() => this.#ping(), PING_PERIOD_MS).unref();
  }

  /** There once the server has said what it is: the kernel accepts connections for a process that hangs, too. */
  static async open(target: GrpcTarget, options: GrpcOptions = {}): Promise<GrpcConnection> {
    const timeout = AbortSignal.timeout(options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    try {
      const socket = await dialTarget(target, timeout);
      return await new Promise((resolve, reject) => {
        let connection: GrpcConnection | undefined;
        const late = (): void => client.close('no SETTINGS frame came in time');
        const client = startHttp2Client(socket, {
          ...addressedTo(target),
          onReady: () => {
            timeout.removeEventListener('abort', late);
            connection = new GrpcConnection(client, { socket, target, options });
            resolve(connection);
          },
          onClose: (why) => {
            timeout.removeEventListener('abort', late);
            if (connection === undefined) reject(new Error(why));
            else connection.#closed();
          },
          ...(options.onFlush === undefined ? {} : { onFlush: options.onFlush }),
        });
        timeout.addEventListener('abort', late, { once: true });
      });
    } catch (error) {
      const message = `${whereIs(target)}: ${describeError(error)}`;
      const dialing = error instanceof OutboundError && error.failure === 'dial' ? error.message : undefined;
      throw new GrpcError({ status: UNAVAILABLE, message, sent: false, dialing });
    }
  }

  /** Whom the connection is to; empty where that is no address. */
  get peer(): { readonly address: string; readonly port: number } {
    const { remoteAddress = '', remotePort = 0 } = this.#socket as { remoteAddress?: string; remotePort?: number };
    return { address: remoteAddress, port: remotePort };
  }

  get usable(): boolean {
    return this.#client.usable;
  }

  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  close(): void {
    this.#client.close('the connection was closed');
  }

  // hot: every read and write
  call(method: string, message: Buffer, timeoutMs: number, metadata?: Metadata): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const endMs = Date.now() + timeoutMs;
      this.#begin(new UnaryCall(message, { method, metadata, endMs, owner: this, resolve, reject }));
    });
  }

  /** `take` may return a promise: reading pauses until it settles. `ended` gets NoAnswer when a stream ends without error. */
  stream(
    method: string,
    take: (message: Buffer) => void | Promise<void>,
    ended: (error: GrpcError) => void,
    metadata?: Metadata,
  ): GrpcStream {
    this.#checkUsable();
    const call = new StreamingCall({
      method,
      metadata,
      maxMessageBytes: this.maxMessageBytes,
      take,
      ended,
      lostOutcome: (why) => this.lostOutcome(why),
    });
    this.#client.begin(call, [], 0);
    return {
      send: (message) => call.send(message),
      onceDrained: (listener) => call.onceDrained(listener),
      close: () => call.end(),
    };
  }

  lostOutcome(why: string): Outcome {
    return lostOutcome(why, this.#client.goAway);
  }

  again(call: UnaryCall): boolean {
    if (!this.usable) return false;
    const { path: method, message, metadata, endMs } = call;
    const repeated = new UnaryCall(message, { method, metadata, endMs, owner: this, ...call.waiter });
    repeated.isRepeated = true;
    this.#begin(repeated);
    return true;
  }

  settled(): void {
    if (--this.#calls === 0) this.#keepsProcess(false);
  }

  #begin(call: UnaryCall): void {
    if (this.#calls++ === 0) this.#keepsProcess(true);
    if (!this.usable) return call.onLoss({ kind: 'refused' });
    const head = messageHead(call.message.length);
    this.#client.begin(call, [head, call.message], head.length + call.message.length);
  }

  #checkUsable(): void {
    if (this.usable) return;
    throw new GrpcError({ status: UNAVAILABLE, message: `${this.#where}: not connected`, sent: false });
  }

  /** Servers take pings of a client without calls for abuse, and etcd ends its connection (`too_many_pings`). */
  #ping(): void {
    if (this.#client.streams.size === 0) return;
    const timer = setTimeout(() => this.#client.close('no answer to a ping'), PING_TIMEOUT_MS).unref();
    this.#client.ping(() => clearTimeout(timer));
  }

  #closed(): void {
    clearInterval(this.#pings);
    for (const listener of this.#closeListeners.splice(0)) listener();
  }

  #keepsProcess(keeps: boolean): void {
    const socket = this.#socket as { ref?: () => void; unref?: () => void };
    if (keeps) socket.ref?.();
    else socket.unref?.();
  }
}
