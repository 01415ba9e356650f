// One connection of HTTP/1.1: a request, its answer, the next request.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { drained } from '../../lib/async/drained.js';
import {
  bodyPieces,
  type HttpHandler,
  type HttpResponse,
  isStream,
  type ResponseStream,
  type WholeBody,
} from '../../lib/http/http.js';
import type { BodyErrors } from '../body-errors.js';
import { GatheredWrites } from '../../lib/scheduling/write-scheduler.js';
import { emitTimeouts } from '../idle-timeout.js';
import { localAddressOf, peerAddressOf, peerCertificatesOf } from '../peer.js';
import type { Reader, Reading } from '../reading.js';
import { requestHeadReader } from './head-reader.js';
import { isRefusal, type RequestHead } from './request-head.js';
import type { Refusal } from './request-line.js';
import { Handover, Http1Request, type Peer, type RequestOwner } from './request.js';
import { refusalText, responseHead } from './response-head.js';
import { ChunkSink, PlainSink } from './sinks.js';

const IDLE_TIMEOUT_MS = 90_000;
const HEAD_TIMEOUT_MS = 32_000;
/** How long a client has to read the last answer before the connection is closed. */
const LINGER_MS = 500;
/** How long a client that still sends has to find it. */
const UNREAD_LINGER_MS = 5_000;
/** What a client may send ahead of the answers before it is read no further. */
const MAX_AHEAD_BYTES = 64 * 1024;
/** Smaller answers are written in one piece with their head. */
const JOINED_BYTES = 64 * 1024;
/** Larger ones in such pieces. */
const LARGE_WRITE_BYTES = 1024 * 1024;
/** Line ends that old clients send after the body of a POST. */
const MAX_STRAY_LINE_ENDS = 4;
const CLIENT_GONE = new Error('the client is gone');

export interface ConnectionOptions {
  readonly bodyErrors: BodyErrors;
  readonly handler: HttpHandler;
  readonly onError: (error: unknown) => void;
  readonly reading: Reading;
  /** The server is leaving: every answer closes its connection. */
  readonly retired: () => boolean;
}

interface AnswerHead extends Pick<HttpResponse, 'status' | 'headers'> {
  /** Undefined where no length is sent. */
  readonly contentLength?: number | undefined;
  /** The connection stays open for another request. */
  readonly keeps: boolean;
  readonly chunked?: boolean;
}

export class Http1Connection implements RequestOwner, Reader {
  readonly peer: Peer;
  readonly bodyErrors: BodyErrors;
  readonly #writes: GatheredWrites;
  /** Bytes that have come and were not looked at yet. */
  #input: Buffer[] = [];
  #inputBytes = 0;
  readonly #stopTimeouts: () => void;
  readonly #heads = requestHeadReader();
  #headTimer: NodeJS.Timeout | undefined = undefined;
  #request: Http1Request | undefined = undefined;
  #lastMethod = '';
  /** No further request is read. */
  #closing = false;
  #clientEnded = false;
  /** Between two requests: of a client that sends more than one at once, or has not read its last answer, or one of many. */
  #resting = false;

  constructor(
    private readonly socket: Socket | TLSSocket,
    private readonly options: ConnectionOptions,
  ) {
    this.#writes = new GatheredWrites(socket);
    this.bodyErrors = options.bodyErrors;
    this.peer = {
      remoteAddress: peerAddressOf(socket),
      localAddress: () => localAddressOf(socket),
      clientCertificates: peerCertificatesOf(socket as TLSSocket),
    };
    this.#stopTimeouts = emitTimeouts(socket, IDLE_TIMEOUT_MS);
    socket.on('timeout', this.#onTimeout);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
    socket.on('data', this.#onData);
    this.#watchHead();
  }

  get idle(): boolean {
    return this.#request === undefined;
  }

  /** Ends the connection unless a request is under way or on its way, which then is its last. */
  retire(): void {
    if (this.idle && !this.#resting && !this.#heads.begun) this.#end();
  }

  abandon(): void {
    this.socket.destroy();
  }

  /** Called in an event-loop turn whose time slice is not exhausted. */
  resumeReading(): void {
    this.#next();
  }

  readBody(): void {
    const request = this.#request;
    if (request === undefined || request.incoming.ended) return;
    if (request.head.expectsContinue && !request.continued && this.#inputBytes === 0) {
      request.continued = true;
      this.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    }
    this.#feedBody(request);
    if (this.#clientEnded) request.incoming.cut();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#closing) return;
    this.#input.push(bytes);
    this.#inputBytes += bytes.length;
    const request = this.#request;
    if (request === undefined) this.#readHeads();
    else if (request.incoming.wanted) this.#feedBody(request);
    if (this.#inputBytes > MAX_AHEAD_BYTES) this.socket.pause();
  };

  readonly #onTimeout = (): void => {
    if (this.idle) this.socket.destroy();
  };

  readonly #onEnd = (): void => {
    this.#clientEnded = true;
    if (this.#closing) return this.#endSocket();
    if (this.idle && !this.#resting) return this.#end();
    if (this.#request?.incoming.wanted) this.#request.incoming.cut();
    this.#request?.stop(CLIENT_GONE);
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#headTimer);
    this.#closing = true;
    this.#request?.incoming.cut();
    this.#request?.stop(CLIENT_GONE);
  };

  #takeInput(): Buffer {
    const [only] = this.#input;
    const all = this.#input.length === 1 && only !== undefined ? only : Buffer.concat(this.#input);
    this.#input = [];
    this.#inputBytes = 0;
    return all;
  }

  #putBack(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#input.unshift(rest);
    this.#inputBytes += rest.length;
  }

  #feedBody(request: Http1Request): void {
    const { incoming } = request;
    this.socket.resume();
    while (incoming.wanted && this.#inputBytes > 0) {
      const bytes = this.#takeInput();
      this.#putBack(bytes.subarray(incoming.feed(bytes)));
    }
  }

  #readHeads(): void {
    while (this.#request === undefined && !this.#closing && !this.#resting && this.#inputBytes > 0) {
      if (this.options.reading.over) return this.#readLater();
      const bytes = this.#heads.begun ? this.#takeInput() : this.#withoutStrayLineEnds(this.#takeInput());
      if (bytes.length === 0) continue;
      const found = this.#heads.take(bytes);
      if (found === undefined) break;
      this.#putBack(found.rest);
      if (isRefusal(found.head)) return this.#refuse(found.head);
      this.#begin(found.head);
    }
    if (this.#heads.begun) this.#watchHead();
  }

  #readLater(): void {
    this.#resting = true;
    this.options.reading.later(this);
  }

  #withoutStrayLineEnds(bytes: Buffer): Buffer {
    if (this.#lastMethod !== 'POST') return bytes;
    this.#lastMethod = '';
    let start = 0;
    while (start < MAX_STRAY_LINE_ENDS && (bytes[start] === 0x0d || bytes[start] === 0x0a)) start++;
    return bytes.subarray(start);
  }

  /** A head must be whole in its time, however its bytes drip. */
  #watchHead(): void {
    this.#headTimer ??= setTimeout(() => this.socket.destroy(), HEAD_TIMEOUT_MS).unref();
  }

  #begin(head: RequestHead): void {
    clearTimeout(this.#headTimer);
    this.#headTimer = undefined;
    const upgrade = head.wantsUpgrade ? new Handover(this.socket, () => this.#release()) : undefined;
    const request = new Http1Request(head, this, upgrade);
    this.#request = request;
    const fail = (error: unknown): void => {
      this.options.onError(error);
      this.abandon();
    };
    if (head.method === 'OPTIONS' && head.path === '*')
      return this.#send(request, { status: 200, headers: {}, body: '' });
    try {
      const answer = this.options.handler(request);
      if (answer instanceof Promise) answer.then((response) => this.#send(request, response), fail);
      else this.#send(request, answer);
    } catch (error) {
      fail(error);
    }
  }

  /**
   * Stops reading, so that the connection's next owner receives all later bytes. The socket's flow state is reset as if
   * nobody had read: a socket that was paused explicitly would stay paused when the next owner begins to listen.
   */
  #release(): Buffer {
    this.socket.off('data', this.#onData);
    (this.socket as { readableFlowing: boolean | null }).readableFlowing = null;
    return this.#takeInput();
  }

  #takeBack({ head }: { readonly head: Buffer }): void {
    this.#putBack(head);
    this.socket.on('data', this.#onData);
  }

  #send(request: Http1Request, response: HttpResponse): void {
    try {
      if (response.status === 101) return this.#handOver(request, response);
      if (request.upgrade?.isTaken) this.#takeBack(request.upgrade);
      if (isStream(response.body)) this.#sendPieces(request, response, response.body);
      else this.#sendWhole(request, response, response.body);
    } catch (error) {
      this.options.onError(error);
      this.abandon();
    }
  }

  #sendWhole(request: Http1Request, { status, headers }: HttpResponse, body: WholeBody): void {
    const pieces = bodyPieces(body);
    const bodiless = status === 204 || status === 304;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const keeps = this.#keeps(request, headers);
    const isHead = request.method === 'HEAD';
    // The length of GET's body is unknown for a HEAD answer without a body.
    const omitsLength = bodiless || (isHead && body === undefined);
    const head = this.#headBytes(request, { status, headers, contentLength: omitsLength ? undefined : length, keeps });
    const sent = bodiless || isHead ? [] : pieces;
    if (length <= JOINED_BYTES) {
      this.socket.write(Buffer.concat([head, ...sent]));
      return this.#finish(request, keeps);
    }
    void this.#writeLarge([head, ...sent]).then(() => this.#finish(request, keeps));
  }

  /** Writes as fast as the client reads, a bounded piece at a time. */
  async #writeLarge(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length && !this.socket.destroyed; at += LARGE_WRITE_BYTES) {
        this.#writes.gather();
        this.socket.write(piece.subarray(at, at + LARGE_WRITE_BYTES));
        await drained(this.socket);
      }
    }
  }

  #sendPieces(request: Http1Request, { status, headers }: HttpResponse, body: ResponseStream): void {
    request.responded = true;
    const chunked = request.httpVersion === '1.1' && headers['content-length'] === undefined;
    const keeps = this.#keeps(request, headers) && (chunked || headers['content-length'] !== undefined);
    this.socket.write(this.#headBytes(request, { status, headers, keeps, chunked }));
    if (request.method === 'HEAD') return this.#finish(request, keeps);
    const sink = chunked ? new ChunkSink(this.socket, request.signal) : new PlainSink(this.socket, request.signal);
    body.stream(sink).then(
      () => {
        if (sink instanceof ChunkSink) sink.finish();
        this.#finish(request, keeps);
      },
      (error: unknown) => {
        if (!request.signal.aborted) this.options.onError(error);
        this.abandon();
      },
    );
  }

  #handOver(request: Http1Request, { body }: HttpResponse): void {
    const { socket } = this;
    this.#stopTimeouts();
    socket.off('timeout', this.#onTimeout);
    socket.off('end', this.#onEnd);
    this.#closing = true;
    if (!isStream(body)) return;
    body.stream(new PlainSink(socket, request.signal)).catch((error: unknown) => {
      if (!request.signal.aborted) this.options.onError(error);
      socket.destroy();
    });
  }

  /** An unread upload would be parsed as the next request, so the connection is then not kept alive. */
  #keeps(request: Http1Request, headers: HttpResponse['headers']): boolean {
    const { incoming } = request;
    if (!incoming.ended && !request.head.expectsContinue && this.#inputBytes > 0) {
      const bytes = this.#takeInput();
      this.#putBack(bytes.subarray(incoming.discard(bytes)));
    }
    return (
      request.head.keepAlive &&
      incoming.ended &&
      !this.#clientEnded &&
      headers['connection'] !== 'close' &&
      !this.options.retired()
    );
  }

  #headBytes({ head: { version } }: Http1Request, answer: AnswerHead): Buffer {
    const { status, headers, contentLength, keeps, chunked = false } = answer;
    // HTTP/1.1 stays open without saying so, and HTTP/1.0 ends so.
    const isOld = version === '1.0';
    const connection = keeps === isOld ? (keeps ? 'keep-alive' : 'close') : undefined;
    // A character is a byte: who has more to say than those says it in UTF-8 himself.
    return Buffer.from(
      responseHead({ version, status, headers, contentLength, chunked, connection, nowMs: Date.now() }),
      'latin1',
    );
  }

  #finish(request: Http1Request, keeps: boolean): void {
    this.#request = undefined;
    this.#lastMethod = request.method;
    if (!keeps || this.#clientEnded || this.options.retired())
      return this.#end(request.incoming.ended ? 0 : UNREAD_LINGER_MS);
    this.#resting = true;
    if (this.socket.writableNeedDrain) void drained(this.socket).then(this.#next);
    else if (this.#inputBytes > 0) setImmediate(this.#next);
    else this.#next();
  }

  readonly #next = (): void => {
    this.#resting = false;
    if (this.#closing) return;
    if (this.socket.isPaused()) this.socket.resume();
    this.#readHeads();
    if (this.#clientEnded && this.idle) this.#end();
  };

  #refuse(refusal: Refusal): void {
    this.socket.write(refusalText(refusal));
    this.#end();
  }

  /**
   * What was written leaves first, however slowly it is read: a client that reads nothing is idle. One that still sends
   * is heard for some time: some read only then, or forget what they read when they see the end.
   */
  #end(afterMs = 0): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#input = [];
    this.socket.resume();
    if (afterMs > 0) setTimeout(this.#endSocket, afterMs).unref();
    else this.#endSocket();
  }

  readonly #endSocket = (): void => {
    this.socket.end(() => setTimeout(() => this.socket.destroy(), LINGER_MS).unref());
  };
}
