// gRPC over one HTTP/2 session, only what a client of etcd needs: unary calls and a two-way stream.
import http2 from 'node:http2';

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

export const UNAVAILABLE = 14;
export const DEADLINE_EXCEEDED = 4;

/** Ends as the reference's client notices a dead peer: a ping without an answer. */
const PING_PERIOD_MS = 30_000;
const PING_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const WINDOW_BYTES = 16 * 1024 * 1024;
/** An answer larger than this is not one of etcd's. */
const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024;

export interface TlsFiles {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface GrpcStream {
  send(message: Buffer): void;
  close(): void;
}

export class GrpcConnection {
  readonly #session: http2.ClientHttp2Session;
  readonly #authority: string;
  #ping: NodeJS.Timeout | undefined;

  private constructor(session: http2.ClientHttp2Session, authority: string) {
    this.#session = session;
    this.#authority = authority;
    this.#keepAlive();
  }

  static open(url: string, tls: TlsFiles): Promise<GrpcConnection> {
    return new Promise((resolve, reject) => {
      const session = http2.connect(url, { ...tls, settings: { initialWindowSize: WINDOW_BYTES } });
      const timer = setTimeout(() => session.destroy(new Error('connecting took too long')), CONNECT_TIMEOUT_MS);
      const failed = (error?: Error): void => {
        clearTimeout(timer);
        session.destroy();
        const why = error === undefined ? 'the connection was closed' : describe(error);
        reject(new GrpcError({ status: UNAVAILABLE, message: `${url}: ${why}`, sent: false }));
      };
      session.once('error', failed);
      session.once('close', failed);
      session.once('connect', () => {
        clearTimeout(timer);
        session.removeListener('close', failed);
        session.on('error', () => undefined);
        session.setLocalWindowSize(WINDOW_BYTES);
        session.unref();
        resolve(new GrpcConnection(session, new URL(url).host));
      });
    });
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
  call(method: string, message: Buffer, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const fail = (status: number, why: string): void => reject(new GrpcError({ status, message: why, sent: true }));
      const stream = this.#request(method);
      const frames = new FrameReader();
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
          messages.push(...frames.take(chunk));
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
  ): GrpcStream {
    const stream = this.#request(method, { hasleader: 'true' });
    const frames = new FrameReader();
    let failure: GrpcFailure = { status: UNAVAILABLE, message: 'the connection was lost', sent: true };
    const note = (headers: http2.IncomingHttpHeaders): void => {
      const outcome = outcomeOf(headers);
      if (outcome !== undefined && outcome.status !== 0) failure = { ...outcome, sent: true };
    };
    let tail: Promise<void> | undefined;
    const deliver = (messages: readonly Buffer[]): void | Promise<void> => {
      for (const [index, message] of messages.entries()) {
        const busy = take(message);
        if (busy !== undefined) return busy.then(() => deliver(messages.slice(index + 1)));
      }
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('data', (chunk: Buffer) => {
      const messages = frames.take(chunk);
      const busy = tail === undefined ? deliver(messages) : tail.then(() => deliver(messages));
      if (busy === undefined) return;
      stream.pause();
      const mine = busy.then(
        () => {
          if (tail !== mine) return;
          tail = undefined;
          stream.resume();
        },
        () => stream.close(http2.constants.NGHTTP2_CANCEL),
      );
      tail = mine;
    });
    stream.on('error', (error) => (failure = { status: UNAVAILABLE, message: describe(error), sent: true }));
    stream.on('close', () => ended(new GrpcError(failure)));
    return {
      send: (message) => {
        if (!stream.destroyed && !stream.writableEnded) stream.write(frame(message));
      },
      close: () => stream.close(http2.constants.NGHTTP2_CANCEL),
    };
  }

  #request(method: string, extra: Record<string, string> = {}): http2.ClientHttp2Stream {
    if (!this.usable) {
      throw new GrpcError({ status: UNAVAILABLE, message: `${this.#authority}: not connected`, sent: false });
    }
    return this.#session.request({
      ':method': 'POST',
      ':path': method,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...extra,
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

interface Outcome {
  readonly status: number;
  readonly message: string;
}

function outcomeOf(headers: http2.IncomingHttpHeaders): Outcome | undefined {
  const status = headers['grpc-status'];
  if (status !== undefined) {
    return { status: Number(status), message: decodeURIComponent(String(headers['grpc-message'] ?? '')) };
  }
  const httpStatus = Number(headers[':status'] ?? 200);
  return httpStatus === 200 ? undefined : { status: UNAVAILABLE, message: `HTTP status ${httpStatus}` };
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
  #chunks: Buffer[] = [];
  #length = 0;

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
    if (first[0] !== 0 || size > MAX_MESSAGE_BYTES) throw new Error('gRPC: a message in a form we do not read');
    return size;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message !== '' || !('code' in error) ? error.message : String(error.code);
}
