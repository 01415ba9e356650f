// HTTP/2: streams become plain requests, plain answers become streams.
import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { PassThrough, type Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { drained } from '../lib/drained.js';
import { type HttpHandler, type HttpRequest, type HttpResponse, isStream, type ResponseSink } from '../lib/http.js';
import { decodePath, parseQuery } from '../lib/request-target.js';
import { badRequest, requestEntityTooLarge } from '../machinery/status.js';
import { peerAddressOf, type PeerCertificates, peerCertificatesOf } from '../wire/peer.js';

const IDLE_TIMEOUT_MS = 90_000;
const UPLOAD_WINDOW_BYTES = 256 * 1024;
const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR, NGHTTP2_PROTOCOL_ERROR } = http2.constants;
const END_STREAM_FLAG = 1;
const ENDED = { endStream: true } as const;
const EMPTY = Buffer.alloc(0);
const CLIENT_GONE = new Error('the client is gone');
const ignoreError = (): void => undefined;

export interface Http2Options {
  readonly maxStreamsPerConnection: number;
  readonly handler: HttpHandler;
  readonly onError: (error: unknown) => void;
}

/** Takes TLS sockets that agreed on h2. `sessions` are those open now. */
export function createHttp2(options: Http2Options): {
  accept(socket: TLSSocket): void;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
} {
  const maxStreams = options.maxStreamsPerConnection > 0 ? options.maxStreamsPerConnection : 100;
  const server = http2.createServer({
    // Counts queued answers too; the default of 10 MB refuses streams while a few large lists are under way.
    maxSessionMemory: 1024,
    // What counts is the size of all headers together, below; the default of 128 is soon used up by impersonation.
    maxHeaderListPairs: 2000,
    settings: {
      maxConcurrentStreams: maxStreams,
      initialWindowSize: UPLOAD_WINDOW_BYTES,
      maxFrameSize: UPLOAD_WINDOW_BYTES,
      maxHeaderListSize: 1 << 20,
    },
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', ignoreError);
    session.setLocalWindowSize(UPLOAD_WINDOW_BYTES * maxStreams);
    serveSession(session, options);
  });
  server.on('sessionError', ignoreError);
  return { accept: (socket) => server.emit('connection', socket), sessions };
}

/** What the streams of one connection share. */
class Connection {
  readonly remoteAddress: string;
  readonly peerCertificates: PeerCertificates;
  /** Requests not yet answered in full. */
  open = 0;

  constructor(readonly session: ServerHttp2Session) {
    const socket = session.socket as TLSSocket;
    this.remoteAddress = peerAddressOf(socket);
    this.peerCertificates = peerCertificatesOf(socket);
  }
}

function serveSession(session: ServerHttp2Session, { handler, onError }: Http2Options): void {
  const connection = new Connection(session);
  session.setTimeout(IDLE_TIMEOUT_MS, () => {
    if (connection.open === 0) session.close();
  });
  // hot: once for each request.
  session.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => {
      stream.on('error', ignoreError);
      const request = new Http2Request(connection, stream, headers, flags, rawHeaders);
      if (!isWellFormed(request)) return stream.close(NGHTTP2_PROTOCOL_ERROR);
      connection.open++;
      try {
        const answer = handler(request);
        if (answer instanceof Promise) answer.then((response) => send(request, response), fail);
        else send(request, answer);
      } catch (error) {
        fail(error);
      }
      function fail(error: unknown): void {
        connection.open--;
        onError(error);
        if (!stream.destroyed) stream.close(NGHTTP2_INTERNAL_ERROR);
      }
    },
  );

  function send(request: Http2Request, response: HttpResponse): void {
    try {
      const { stream } = request;
      const { body } = response;
      if (isStream(body)) return sendPieces(request, response);
      const closing = response.headers.connection === 'close';
      connection.open--;
      if (stream.destroyed || stream.closed) return;
      const headers = headersOf(response);
      if (body === undefined || request.method === 'HEAD') {
        stream.respond(headers, ENDED);
      } else if (typeof body === 'string' || Buffer.isBuffer(body)) {
        const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
        headers['content-length'] ??= bytes.length;
        stream.respond(headers);
        stream.end(bytes);
      } else {
        headers['content-length'] ??= body.reduce((sum, piece) => sum + piece.length, 0);
        stream.respond(headers);
        stream.cork();
        for (const piece of body) stream.write(piece);
        stream.end();
      }
      settle(request, closing);
    } catch (error) {
      onError(error);
      request.stream.close(NGHTTP2_INTERNAL_ERROR);
    }
  }

  function sendPieces(request: Http2Request, response: HttpResponse): void {
    const { stream } = request;
    const { body } = response;
    if (!isStream(body)) return;
    const closing = response.headers.connection === 'close';
    const started = !stream.destroyed && !stream.closed;
    if (started) {
      request.responded = true;
      stream.respond(headersOf(response));
    }
    body.stream(new Http2Sink(request)).then(
      () => {
        connection.open--;
        if (!started || stream.destroyed) return;
        stream.end();
        settle(request, closing);
      },
      (error: unknown) => {
        connection.open--;
        if (!request.signal.aborted) onError(error);
        if (!stream.destroyed) stream.close(NGHTTP2_INTERNAL_ERROR);
      },
    );
  }

  function settle(request: Http2Request, closing: boolean): void {
    // Nobody will read the rest of an upload that was answered early.
    if (!request.bodyEnded) request.stream.close(NGHTTP2_NO_ERROR);
    if (closing) session.close();
  }
}

/** What is no path is no request, as in the reference. */
const isWellFormed = ({ method, path }: Http2Request): boolean =>
  path.startsWith('/') ? decodePath(path) !== undefined : path === '*' || (method === 'CONNECT' && path === '');

function headersOf(response: HttpResponse): http2.OutgoingHttpHeaders {
  const headers = response.headers as http2.OutgoingHttpHeaders;
  headers[':status'] = response.status;
  // HTTP/2 has no headers about the connection; `close` becomes GOAWAY.
  if (headers.connection !== undefined) headers.connection = undefined;
  if (headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = undefined;
  return headers;
}

class Http2Request implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly httpVersion = '2.0';
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** An answer in pieces has begun. */
  responded = false;
  bodyEnded: boolean;
  private parsedQuery: URLSearchParams | undefined = undefined;
  private controller: AbortController | undefined = undefined;
  private reason: Error | undefined = undefined;

  constructor(
    readonly connection: Connection,
    readonly stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    flags: number,
    readonly rawHeaders: readonly string[],
  ) {
    this.method = headers[':method'] ?? 'GET';
    // CONNECT has none.
    const target = headers[':path'] ?? '';
    const question = target.indexOf('?');
    this.path = question < 0 ? target : target.slice(0, question);
    this.search = question < 0 ? '' : target.slice(question + 1);
    this.headers = headers as Record<string, string | undefined>;
    this.bodyEnded = (flags & END_STREAM_FLAG) !== 0;
  }

  get query(): URLSearchParams {
    return (this.parsedQuery ??= parseQuery(this.search));
  }

  get host(): string {
    return this.headers[':authority'] ?? this.headers.host ?? '';
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  get clientCertificates(): readonly Buffer[] {
    return this.connection.peerCertificates();
  }

  get signal(): AbortSignal {
    let controller = this.controller;
    if (controller === undefined) {
      controller = this.controller = new AbortController();
      const { stream } = this;
      if (this.reason !== undefined) controller.abort(this.reason);
      else if (stream.destroyed) controller.abort(CLIENT_GONE);
      else stream.once('close', () => this.controller?.abort(CLIENT_GONE));
    }
    return controller.signal;
  }

  cancel(reason: Error): void {
    this.reason = reason;
    this.controller?.abort(reason);
    if (this.responded) this.stream.close(NGHTTP2_INTERNAL_ERROR);
  }

  body(limitBytes: number): Promise<Buffer> {
    if (this.bodyEnded) return Promise.resolve(EMPTY);
    const { stream } = this;
    if (this.headers.expect?.toLowerCase() === '100-continue') stream.additionalHeaders({ ':status': 100 });
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let size = 0;
      stream.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size <= limitBytes) return void pieces.push(piece);
        stream.pause();
        stream.removeAllListeners('data');
        reject(requestEntityTooLarge(`limit is ${limitBytes}`));
      });
      const cutShort = (): void => reject(badRequest('unexpected EOF'));
      stream.once('end', () => {
        this.bodyEnded = true;
        // A stream that its client reset ends, too: half a body must not pass for a whole one.
        if (stream.aborted) return cutShort();
        // Every stream closes in the end, and an error nobody sees is still made with its stack.
        stream.off('close', cutShort);
        resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size));
      });
      stream.once('close', cutShort);
    });
  }

  /** Apart from the stream, which is the answer's as well: whoever is done with the one ends not the other. */
  bodyStream(): Readable | undefined {
    if (this.bodyEnded) return undefined;
    const { stream } = this;
    if (this.headers.expect?.toLowerCase() === '100-continue') stream.additionalHeaders({ ':status': 100 });
    const body = new PassThrough();
    const cutShort = (): void => void body.destroy(badRequest('unexpected EOF'));
    stream.once('end', () => {
      this.bodyEnded = true;
      if (stream.aborted) cutShort();
      else body.end();
    });
    stream.once('close', () => {
      if (!this.bodyEnded) cutShort();
    });
    body.once('close', () => stream.unpipe(body).pause());
    stream.pipe(body, { end: false });
    return body;
  }
}

class Http2Sink implements ResponseSink {
  constructor(private readonly request: Http2Request) {}

  get signal(): AbortSignal {
    return this.request.signal;
  }

  get pendingBytes(): number {
    return this.request.stream.writableLength;
  }

  write(chunk: Buffer | string): boolean {
    const { stream } = this.request;
    return stream.destroyed || stream.closed ? false : stream.write(chunk);
  }

  drained(): Promise<void> {
    const { stream } = this.request;
    return stream.closed ? Promise.resolve() : drained(stream);
  }
}
