// gRPC over one HTTP/2 session: unary calls and two-way streams, for etcd, key services, signers, proxies and collectors.
import { append } from '../lib/append.js';
import http2 from 'node:http2';
import type { Duplex } from 'node:stream';
import { type ClientTls, handshake } from './client-tls.js';
import { type Dialer, dialUnix } from './dialer.js';
import {
  GrpcError,
  type GrpcFailure,
  DEADLINE_EXCEEDED,
  INTERNAL,
  NoAnswer,
  UNAVAILABLE,
  UNKNOWN,
} from './grpc-error.js';
import { framed, MessageReader } from './grpc-messages.js';
import {
  endOutcome,
  type GoAway,
  headFault,
  lostOutcome,
  NO_TRAILERS,
  type Outcome,
  resetOutcome,
} from './grpc-outcome.js';
import { OutboundError } from './outbound-error.js';
import { targetOf } from './target.js';

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
  #goAway: GoAway | undefined;

  private constructor(session: http2.ClientHttp2Session, target: GrpcTarget, options: GrpcOptions) {
    this.#session = session;
    this.#where = whereIs(target);
    this.#authority = 'url' in target ? undefined : (target.authority ?? 'localhost');
    this.#maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    session.on('goaway', (code, _last, words) => (this.#goAway = { code, words: words?.toString() ?? '' }));
    this.#keepAlive();
  }

  static async open(target: GrpcTarget, options: GrpcOptions = {}): Promise<GrpcConnection> {
    const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    try {
      return new GrpcConnection(await startSession(await connect(target, timeout), target, timeout), target, options);
    } catch (error) {
      const message = `${whereIs(target)}: ${describe(error)}`;
      const dialing = error instanceof OutboundError && error.failure === 'dial' ? error.message : undefined;
      throw new GrpcError({ status: UNAVAILABLE, message, sent: false, dialing });
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
    return this.#ask({ method, message, endMs: performance.now() + timeoutMs, metadata }, true);
  }

  /** What the server refuses to look at is asked once again. */
  #ask(asked: Asked, isFirst: boolean): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const fail = ({ status, message }: Outcome): void => reject(new GrpcError({ status, message, sent: true }));
      const stream = this.#request(asked.method, asked.metadata);
      const answer = new Answer(stream, this.#maxMessageBytes);
      const messages: Buffer[] = [];
      const giveUp = (why: Outcome): void => {
        fail(why);
        stream.close(http2.constants.NGHTTP2_CANCEL);
      };
      const timer = setTimeout(
        () => giveUp({ status: DEADLINE_EXCEEDED, message: 'context deadline exceeded' }),
        Math.max(1, asked.endMs - performance.now()),
      );
      answer.onFault = giveUp;
      stream.on('data', (chunk: Buffer) => {
        try {
          append(messages, answer.messages.take(chunk));
        } catch (error) {
          giveUp(failureOf(error));
        }
      });
      stream.on('close', () => {
        clearTimeout(timer);
        const refused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
        if (refused && isFirst && this.usable) return resolve(this.#ask(asked, false));
        const outcome = this.#outcomeOf(answer);
        const [first, second] = messages;
        if (second !== undefined) fail(TWO_ANSWERS);
        else if (answer.isOver && answer.messages.isInside) fail(ENDS_INSIDE);
        else if (outcome.status !== 0) fail(outcome);
        else if (first === undefined) reject(new NoAnswer());
        else resolve(first);
      });
      stream.end(framed(asked.message));
    });
  }

  #outcomeOf(answer: Answer): Outcome {
    return answer.outcome ?? (this.#session.destroyed ? lostOutcome(this.#goAway) : answer.reset);
  }

  /** `take` may answer a promise: reading stops until it is fulfilled. `ended` is told NoAnswer of a stream that ended well. */
  stream(
    method: string,
    take: (message: Buffer) => void | Promise<void>,
    ended: (error: GrpcError) => void,
    metadata: Metadata = {},
  ): GrpcStream {
    const stream = this.#request(method, metadata);
    const answer = new Answer(stream, this.#maxMessageBytes);
    let failure: GrpcFailure | undefined;
    let tail: Promise<void> | undefined;
    let broken = false;
    const deliver = (messages: readonly Buffer[]): void | Promise<void> => {
      for (const [index, message] of messages.entries()) {
        if (broken) return;
        const busy = take(message);
        if (busy !== undefined) return busy.then(() => deliver(messages.slice(index + 1)));
      }
    };
    // What cannot be read ends this stream: thrown out of an event it would end the process.
    const fail = (error: unknown): void => {
      broken = true;
      failure = { ...failureOf(error), sent: true };
      stream.close(http2.constants.NGHTTP2_CANCEL);
    };
    answer.onFault = (why) => fail(new GrpcError({ ...why, sent: true }));
    const receive = (chunk: Buffer): void => {
      const messages = answer.messages.take(chunk);
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
    // Who says no more is done: it would wait for us to be, too.
    stream.on('end', () => stream.close());
    stream.on('close', () => {
      const outcome = this.#outcomeOf(answer);
      if (failure === undefined && outcome.status === 0) ended(new NoAnswer());
      else ended(new GrpcError(failure ?? { ...outcome, sent: true }));
    });
    return {
      send: (message) => stream.destroyed || stream.writableEnded || stream.write(framed(message)),
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

/** It is there once the other side has said what it is: the kernel accepts connections for a process that hangs. */
function startSession(connection: Duplex, target: GrpcTarget, signal: AbortSignal): Promise<http2.ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const authority = 'url' in target ? target.url : 'http://localhost';
    const settings = { enablePush: false, initialWindowSize: WINDOW_BYTES };
    const session = http2.connect(authority, { createConnection: () => connection, settings });
    const failed = (error?: Error): void => {
      signal.removeEventListener('abort', late);
      session.destroy();
      reject(error ?? new Error('the connection was closed'));
    };
    const late = (): void => failed(new Error('no SETTINGS frame came in time'));
    signal.addEventListener('abort', late, { once: true });
    session.once('error', failed);
    session.once('close', failed);
    session.once('remoteSettings', () => {
      signal.removeEventListener('abort', late);
      session.removeListener('error', failed);
      session.removeListener('close', failed);
      session.on('error', () => undefined);
      session.setLocalWindowSize(WINDOW_BYTES);
      session.unref();
      resolve(session);
    });
  });
}

interface Asked {
  readonly method: string;
  readonly message: Buffer;
  readonly endMs: number;
  readonly metadata: Metadata;
}

const TWO_ANSWERS: Outcome = {
  status: UNKNOWN,
  message: 'grpc: client streaming protocol violation: get <nil>, want <EOF>',
};
const ENDS_INSIDE: Outcome = { status: INTERNAL, message: 'unexpected EOF' };

/** What has come on a stream so far. */
class Answer {
  readonly messages: MessageReader;
  /** By headers; undefined while none say how it went. */
  outcome: Outcome | undefined;
  /** The server has said all. */
  isOver = false;
  /** Told once of headers that are no answer to a call. */
  onFault: (why: Outcome) => void = () => undefined;
  readonly #stream: http2.ClientHttp2Stream;
  #hasBegun = false;

  constructor(stream: http2.ClientHttp2Stream, maxMessageBytes: number) {
    this.#stream = stream;
    this.messages = new MessageReader(maxMessageBytes);
    stream.on('response', (headers, flags) => this.#begin(headers, flags));
    stream.on('trailers', (headers) => this.#end(headers));
    stream.on('end', () => (this.isOver ||= this.#hasBegun && !stream.rstCode));
    // How it ended is told when it closes.
    stream.on('error', () => undefined);
  }

  /** How it went where no headers say so, on a connection that is still there. */
  get reset(): Outcome {
    return this.isOver ? NO_TRAILERS : resetOutcome(this.#stream.rstCode ?? 0);
  }

  #begin(headers: http2.IncomingHttpHeaders, flags: number): void {
    this.#hasBegun = true;
    const fault = headFault(headers);
    if (fault !== undefined) return this.onFault(fault);
    this.messages.encoding = String(headers['grpc-encoding'] ?? '');
    if ((flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#end(headers);
  }

  #end(headers: http2.IncomingHttpHeaders): void {
    this.isOver = true;
    this.outcome = endOutcome(headers);
  }
}

function failureOf(error: unknown): Outcome {
  if (error instanceof GrpcError) return { status: error.status, message: error.message };
  return { status: INTERNAL, message: describe(error) };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message !== '' || !('code' in error) ? error.message : String(error.code);
}
