// gRPC over one HTTP/2 session: unary calls and two-way streams, for etcd, key services, signers, proxies and collectors.
import { append } from '../lib/append.js';
import http2 from 'node:http2';
import type { Duplex } from 'node:stream';
import { type ClientTls, handshake } from './client-tls.js';
import { type Dialer, dialUnix } from './dialer.js';
import { targetOf } from './target.js';

export interface GrpcFailure {
  /** gRPC's status number; 14 for everything that went wrong below it. */
  readonly status: number;
  readonly message: string;
  /** The server may have acted on the request. */
  readonly sent: boolean;
}

export class GrpcError extends Error {
  readonly status: number;
  readonly sent: boolean;

  constructor({ status, message, sent }: GrpcFailure) {
    super(message);
    this.status = status;
    this.sent = sent;
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

export const UNAVAILABLE = 14;
export const DEADLINE_EXCEEDED = 4;

/** Ends as the reference's client notices a dead peer: a ping without an answer. */
const PING_PERIOD_MS = 30_000;
const PING_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const WINDOW_BYTES = 16 * 1024 * 1024;
/** An answer larger than this is a mistake; a client may say less. */
const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024;

export type GrpcTarget =
  | {
      /** `https://host:port`, or `http://…` without TLS. */
      readonly url: string;
      readonly tls: ClientTls;
      readonly dialer: Dialer;
    }
  | {
      readonly unixPath: string;
      /** Whom it is to be, where the server may look at it; over a socket there is no host, and every server takes any. */
      readonly authority?: string;
    };

export interface GrpcOptions {
  readonly maxMessageBytes?: number;
}

/** Headers of a call; names in lower case. */
export type Metadata = Readonly<Record<string, string>>;

export interface GrpcStream {
  /** False when what was sent before has not left yet: then wait with `onceDrained`. */
  send(message: Buffer): boolean;
  onceDrained(listener: () => void): void;
  close(): void;
}

export class GrpcConnection {
  readonly #session: http2.ClientHttp2Session;
  readonly #where: string;
  /** Of a unix socket only. */
  readonly #authority: string | undefined;
  readonly #maxMessageBytes: number;
  #ping: NodeJS.Timeout | undefined;

  private constructor(session: http2.ClientHttp2Session, target: GrpcTarget, options: GrpcOptions) {
    this.#session = session;
    this.#where = whereIs(target);
    this.#authority = 'url' in target ? undefined : (target.authority ?? 'localhost');
    this.#maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    this.#keepAlive();
  }

  static async open(target: GrpcTarget, options: GrpcOptions = {}): Promise<GrpcConnection> {
    const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    try {
      return new GrpcConnection(await startSession(await connect(target, timeout), target), target, options);
    } catch (error) {
      throw new GrpcError({ status: UNAVAILABLE, message: `${whereIs(target)}: ${describe(error)}`, sent: false });
    }
  }

  /** Whom the connection is to; empty where that is no address. */
  get peer(): { readonly address: string; readonly port: number } {
    const { remoteAddress = '', remotePort = 0 } = this.#session.socket;
    return { address: remoteAddress, port: remotePort };
  }

  get usable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  onClose(listener: () => void): void {
    this.#session.once('close', listener);
  }

  close(): void {
    clearInterval(this.#ping);
    this.#session.destroy();
  }

  // hot: every read and write
  call(method: string, message: Buffer, timeoutMs: number, metadata: Metadata = {}): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const fail = (status: number, why: string): void => reject(new GrpcError({ status, message: why, sent: true }));
      const stream = this.#request(method, metadata);
      const frames = new FrameReader(this.#maxMessageBytes);
      const messages: Buffer[] = [];
      const timer = setTimeout(() => {
        fail(DEADLINE_EXCEEDED, `no answer within ${timeoutMs} ms`);
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }, timeoutMs);
      let outcome: Outcome | undefined;
      stream.on('response', (headers) => (outcome = outcomeOf(headers)));
      stream.on('trailers', (headers) => (outcome = outcomeOf(headers) ?? outcome));
      stream.on('data', (chunk: Buffer) => {
        try {
          append(messages, frames.take(chunk));
        } catch (error) {
          fail(UNAVAILABLE, describe(error));
          stream.close(http2.constants.NGHTTP2_CANCEL);
        }
      });
      stream.on('error', (error) => fail(UNAVAILABLE, describe(error)));
      stream.on('close', () => {
        clearTimeout(timer);
        const [answer] = messages;
        if (outcome === undefined) fail(UNAVAILABLE, 'the connection was lost');
        else if (outcome.status !== 0) fail(outcome.status, outcome.message);
        else if (answer === undefined) fail(UNAVAILABLE, 'an empty answer');
        else resolve(answer);
      });
      stream.end(frame(message));
    });
  }

  /** `take` may answer a promise: reading stops until it is fulfilled. */
  stream(
    method: string,
    take: (message: Buffer) => void | Promise<void>,
    ended: (error: GrpcError) => void,
    metadata: Metadata = {},
  ): GrpcStream {
    const stream = this.#request(method, metadata);
    const frames = new FrameReader(this.#maxMessageBytes);
    let failure: GrpcFailure = { status: UNAVAILABLE, message: 'the connection was lost', sent: true };
    const note = (headers: http2.IncomingHttpHeaders): void => {
      const outcome = outcomeOf(headers);
      if (outcome !== undefined && outcome.status !== 0) failure = { ...outcome, sent: true };
    };
    let tail: Promise<void> | undefined;
    let broken = false;
    const deliver = (messages: readonly Buffer[]): void | Promise<void> => {
      for (const [index, message] of messages.entries()) {
        if (broken) return;
        const busy = take(message);
        if (busy !== undefined) return busy.then(() => deliver(messages.slice(index + 1)));
      }
    };
    stream.on('response', note);
    stream.on('trailers', note);
    // What cannot be read ends this stream: thrown out of an event it would end the process.
    const fail = (error: unknown): void => {
      broken = true;
      failure = { status: UNAVAILABLE, message: describe(error), sent: true };
      stream.close(http2.constants.NGHTTP2_CANCEL);
    };
    const receive = (chunk: Buffer): void => {
      const messages = frames.take(chunk);
      const busy = tail === undefined ? deliver(messages) : tail.then(() => deliver(messages));
      if (busy === undefined) return;
      stream.pause();
      const mine = busy.then(() => {
        if (tail !== mine) return;
        tail = undefined;
        stream.resume();
      }, fail);
      tail = mine;
    };
    stream.on('data', (chunk: Buffer) => {
      if (broken) return;
      try {
        receive(chunk);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('error', (error) => (failure = { status: UNAVAILABLE, message: describe(error), sent: true }));
    // Who says no more is done: it would wait for us to be, too.
    stream.on('end', () => stream.close());
    stream.on('close', () => ended(new GrpcError(failure)));
    return {
      send: (message) => stream.destroyed || stream.writableEnded || stream.write(frame(message)),
      onceDrained: (listener) => {
        const done = (): void => {
          stream.removeListener('drain', done);
          stream.removeListener('close', done);
          listener();
        };
        stream.once('drain', done);
        stream.once('close', done);
      },
      close: () => stream.close(http2.constants.NGHTTP2_CANCEL),
    };
  }

  #request(method: string, metadata: Metadata): http2.ClientHttp2Stream {
    if (!this.usable) {
      throw new GrpcError({ status: UNAVAILABLE, message: `${this.#where}: not connected`, sent: false });
    }
    return this.#session.request({
      ':method': 'POST',
      ':path': method,
      ...(this.#authority !== undefined && { ':authority': this.#authority }),
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
  }

  #keepAlive(): void {
    this.#ping = setInterval(() => {
      if (!this.usable) return clearInterval(this.#ping);
      const timer = setTimeout(() => this.#session.destroy(new Error('no answer to a ping')), PING_TIMEOUT_MS);
      timer.unref();
      this.#session.ping(() => clearTimeout(timer));
    }, PING_PERIOD_MS);
    this.#ping.unref();
  }
}

const whereIs = (target: GrpcTarget): string => ('url' in target ? target.url : `unix://${target.unixPath}`);

async function connect(target: GrpcTarget, signal: AbortSignal): Promise<Duplex> {
  if ('unixPath' in target) return dialUnix(target.unixPath, signal);
  const url = new URL(target.url);
  const address = targetOf(url);
  const connection = await target.dialer.dial(address, signal);
  if (url.protocol !== 'https:') return connection;
  return handshake(connection, { tls: target.tls, host: address.host, protocols: ['h2'], signal });
}

function startSession(connection: Duplex, target: GrpcTarget): Promise<http2.ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const authority = 'url' in target ? target.url : 'http://localhost';
    const settings = { enablePush: false, initialWindowSize: WINDOW_BYTES };
    const session = http2.connect(authority, { createConnection: () => connection, settings });
    const failed = (error?: Error): void => {
      session.destroy();
      reject(error ?? new Error('the connection was closed'));
    };
    session.once('error', failed);
    session.once('close', failed);
    session.once('connect', () => {
      session.removeListener('error', failed);
      session.removeListener('close', failed);
      session.on('error', () => undefined);
      session.setLocalWindowSize(WINDOW_BYTES);
      session.unref();
      resolve(session);
    });
  });
}

interface Outcome {
  readonly status: number;
  readonly message: string;
}

function outcomeOf(headers: http2.IncomingHttpHeaders): Outcome | undefined {
  const status = headers['grpc-status'];
  if (status !== undefined) {
    return { status: Number(status), message: percentDecoded(String(headers['grpc-message'] ?? '')) };
  }
  const httpStatus = Number(headers[':status'] ?? 200);
  return httpStatus === 200 ? undefined : { status: UNAVAILABLE, message: `HTTP status ${httpStatus}` };
}

/** As it is where it cannot be decoded: what a server says of a failure must not become another. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One length-prefixed, uncompressed message. */
function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(5 + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, 5);
  return framed;
}

class FrameReader {
  readonly #maxMessageBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  take(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const messages: Buffer[] = [];
    for (;;) {
      const size = this.#nextSize();
      if (size === undefined || this.#length < 5 + size) return messages;
      const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks);
      messages.push(all.subarray(5, 5 + size));
      const rest = all.subarray(5 + size);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
    }
  }

  #nextSize(): number | undefined {
    if (this.#length < 5) return undefined;
    let [first] = this.#chunks;
    if (first === undefined) return undefined;
    if (first.length < 5) {
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    const size = first.readUInt32BE(1);
    if (first[0] !== 0 || size > this.#maxMessageBytes) throw new Error('gRPC: a message in a form we do not read');
    return size;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message !== '' || !('code' in error) ? error.message : String(error.code);
}
