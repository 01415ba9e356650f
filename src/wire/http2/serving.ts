// From a stream to the handler, and from its answer to frames.
import {
  bodyPieces,
  type HttpHandler,
  type HttpResponse,
  isStream,
  type ResponseStream,
  type WholeBody,
} from '../../lib/http/http.js';
import type { RequestHead } from './request-head.js';
import { putResponseHead } from './response-head.js';
import type { ServerConnection } from './server-connection.js';
import { Http2Sink } from './sink.js';
import { Http2Stream } from './stream.js';

export interface ServeOptions {
  readonly maxStreams: number;
  readonly handler: HttpHandler;
  readonly onError: (error: unknown) => void;
}

export class Serving {
  /** Requests whose handlers have not ended, also those that the client gave up. */
  #running = 0;
  /** They begin when others end: opening and resetting streams starts no more work than keeping them open. */
  #queued: Set<Http2Stream> | undefined = undefined;

  constructor(
    private readonly connection: ServerConnection,
    private readonly options: ServeOptions,
  ) {}

  // hot: once for each request.
  begin(stream: Http2Stream): void {
    if (this.#running < this.options.maxStreams) return this.#run(stream);
    (this.#queued ??= new Set()).add(stream);
    this.connection.streams.set(stream.id, stream);
  }

  /** The client does not want it any more. */
  dropped(stream: Http2Stream): void {
    this.#queued?.delete(stream);
  }

  /** A head that is too large is answered, but nobody has read it. */
  refuseHead(id: number, window: number, endStream: boolean): void {
    const stream = new Http2Stream(this.connection, id, UNREAD_HEAD, window);
    if (!endStream) stream.expectBody(0);
    this.#sendWhole(stream, TOO_LARGE, TOO_LARGE_TEXT);
  }

  #run(stream: Http2Stream): void {
    let answer: ReturnType<HttpHandler>;
    try {
      answer = this.options.handler(stream);
    } catch (error) {
      return this.#fail(stream, error);
    }
    if (!(answer instanceof Promise)) return this.#send(stream, answer);
    this.#keep(stream);
    this.#running++;
    void this.#answerLater(stream, answer);
  }

  // hot: every write. No functions are made for it, of which V8 would drop what it compiled.
  async #answerLater(stream: Http2Stream, answer: Promise<HttpResponse>): Promise<void> {
    let response: HttpResponse;
    try {
      response = await answer;
    } catch (error) {
      this.#ended();
      return this.#fail(stream, error);
    }
    this.#ended();
    this.#send(stream, response);
  }

  #keep(stream: Http2Stream): void {
    if (!stream.closed) this.connection.streams.set(stream.id, stream);
  }

  #ended(): void {
    this.#running--;
    if (this.#queued === undefined) return;
    for (const stream of this.#queued) {
      if (this.#running >= this.options.maxStreams) return;
      this.#queued.delete(stream);
      this.#run(stream);
    }
  }

  #fail(stream: Http2Stream, error: unknown): void {
    this.options.onError(error);
    this.connection.breakOff(stream);
  }

  #send(stream: Http2Stream, response: HttpResponse): void {
    try {
      if (isStream(response.body)) this.#sendPieces(stream, response, response.body);
      else if (!stream.closed) this.#sendWhole(stream, response, response.body);
    } catch (error) {
      this.#fail(stream, error);
    }
  }

  #sendWhole(stream: Http2Stream, { status, headers, trailers }: HttpResponse, body: WholeBody): void {
    const { connection } = this;
    const { output, outgoing } = connection;
    const pieces = bodyPieces(body);
    let length = 0;
    for (const piece of pieces) length += piece.length;
    const bodiless = status === 204 || status === 304 || body === undefined;
    const sent = bodiless || stream.method === 'HEAD' ? 0 : length;
    const passes = sent > 0 && trailers === undefined && outgoing.mayPass(output, stream, sent);
    // Once for both.
    if (passes) output.ensure(USUAL_HEAD_BYTES + sent);
    this.#putHead(stream, { status, headers }, bodiless ? undefined : length, sent === 0);
    connection.schedule();
    if (passes) outgoing.pass(output, stream, pieces, sent);
    if (passes || sent === 0) {
      stream.ended = true;
      return connection.answered(stream);
    }
    stream.trailers = trailers;
    for (const piece of pieces) if (piece.length > 0) stream.enqueue(owned(piece));
    stream.finished = true;
    this.#keep(stream);
    connection.send(stream);
  }

  #sendPieces(stream: Http2Stream, response: HttpResponse, body: ResponseStream): void {
    const { connection } = this;
    const isHead = stream.method === 'HEAD';
    const begins = !stream.closed;
    if (begins) {
      stream.responded = true;
      this.#putHead(stream, response, undefined, isHead);
      connection.schedule();
    }
    // Nobody pulls what HEAD does not show.
    if (isHead) {
      stream.ended = true;
      return connection.answered(stream);
    }
    this.#keep(stream);
    stream.forgetQuery();
    this.#running++;
    body.stream(new Http2Sink(stream, this.#onWritten)).then(
      () => {
        this.#ended();
        if (stream.closed) return;
        stream.finished = true;
        connection.send(stream);
      },
      (error: unknown) => {
        this.#ended();
        if (!stream.signal.aborted) this.options.onError(error);
        connection.breakOff(stream);
      },
    );
  }

  #putHead(
    stream: Http2Stream,
    { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
    contentLength: number | undefined,
    endStream: boolean,
  ): void {
    const { connection } = this;
    putResponseHead(connection.output, connection.encoder, {
      stream: stream.id,
      status,
      headers,
      contentLength,
      endStream,
      frameBytes: connection.peer.frameBytes,
      nowMs: Date.now(),
    });
    if (headers['connection'] !== 'close') return;
    // It must not count as over before its answer is.
    this.#keep(stream);
    connection.retire();
  }

  readonly #onWritten = (stream: Http2Stream): void => this.connection.send(stream);
}

/** What is a part of much more memory must not hold it while a client does not read. */
const owned = (piece: Buffer): Buffer => (piece.buffer.byteLength === piece.length ? piece : Buffer.from(piece));

/** Of an answer, with its frames' heads. */
const USUAL_HEAD_BYTES = 512;

const UNREAD_HEAD: RequestHead = {
  method: '',
  path: '',
  search: '',
  host: '',
  headers: {},
  rawHeaders: [],
  contentLength: -1,
  expectsContinue: false,
};
const TOO_LARGE_TEXT = '<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>';
const TOO_LARGE: HttpResponse = {
  status: 431,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: TOO_LARGE_TEXT,
};
