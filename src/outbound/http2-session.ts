// Requests over one HTTP/2 connection.
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { type Duplex, type Readable, Transform } from 'node:stream';
import { resetText } from '../lib/http/http2-reset.js';
import type { OutboundRequest, OutboundResponse } from './messages.js';
import type { ExchangeOptions } from './http1/exchange.js';
import type { Trailers } from './http1/trailers.js';
import { OutboundError, StaleConnection } from './outbound-error.js';

/** Ends as kube-apiserver's client notices a dead peer: a ping without an answer. */
const PING_PERIOD_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
const WINDOW_BYTES = 4 * 1024 * 1024;
const AGENT = 'Go-http-client/2.0';
/** What belongs to one connection, and has no place in HTTP/2. */
const HOP_BY_HOP = new Set(['connection', 'host', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

export class Http2Session {
  readonly #session: ClientHttp2Session;
  readonly #authority: string;
  #used = false;

  private constructor(session: ClientHttp2Session, authority: string) {
    this.#session = session;
    this.#authority = authority;
  }

  static over(connection: Duplex, url: URL, idleMs: number): Promise<Http2Session> {
    return new Promise((resolve, reject) => {
      const session = http2.connect(url, {
        createConnection: () => connection,
        settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      });
      session.once('error', (error) => reject(OutboundError.from(error)));
      session.once('connect', () => {
        session.on('error', () => undefined);
        session.setLocalWindowSize(WINDOW_BYTES);
        session.setTimeout(idleMs, () => session.close());
        session.unref();
        watchPeer(session);
        resolve(new Http2Session(session, url.host));
      });
    });
  }

  get usable(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  close(): void {
    this.#session.close();
  }

  request(request: OutboundRequest, { signal, onDone }: ExchangeOptions): Promise<OutboundResponse> {
    return new Promise((resolve, reject) => {
      const reused = this.#used;
      this.#used = true;
      let stream: ClientHttp2Stream;
      try {
        stream = this.#session.request(this.#headers(request), { endStream: request.body === undefined });
      } catch (error) {
        reject(new StaleConnection(error));
        return;
      }
      // A request keeps the process alive, an idle connection does not.
      this.#session.ref();
      stream.once('close', () => this.#session.unref());
      const onAbort = (): void => {
        stream.close(http2.constants.NGHTTP2_CANCEL);
        const error = OutboundError.aborted(signal);
        reject(error);
        stream.destroy(error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      stream.once('close', () => {
        signal.removeEventListener('abort', onAbort);
        onDone();
        reject(
          reused || stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM
            ? new StaleConnection(stream.rstCode)
            : new OutboundError('protocol', 'EOF'),
        );
      });
      stream.on('error', (error) => reject(signal.aborted ? OutboundError.aborted(signal) : failureOf(stream, error)));
      stream.once('response', (headers, _flags, raw?: readonly string[]) => resolve(responseOf(stream, headers, raw)));
      send(stream, request.body);
    });
  }

  #headers({
    method,
    url,
    target,
    headers = {},
    sendUserAgent,
    acceptGzip,
    body,
  }: OutboundRequest): http2.OutgoingHttpHeaders {
    const all: http2.OutgoingHttpHeaders = {
      ':method': method,
      ':scheme': url.protocol.slice(0, -1),
      ':authority': String(headers.host ?? this.#authority),
      ':path': target ?? url.pathname + url.search,
    };
    for (const [name, value] of Object.entries(headers)) {
      if (!HOP_BY_HOP.has(name)) all[name] = value as string | string[];
    }
    if (sendUserAgent === true) all['user-agent'] ??= AGENT;
    if (acceptGzip === true) all['accept-encoding'] ??= 'gzip';
    if (all['content-length'] === undefined && (typeof body === 'string' || Buffer.isBuffer(body))) {
      all['content-length'] = Buffer.byteLength(body);
    }
    return all;
  }
}

/** A refused stream was not processed, so the request can be retried; any other reset is reported by its code. */
function failureOf(stream: ClientHttp2Stream, error: NodeJS.ErrnoException): OutboundError {
  if (error.code !== 'ERR_HTTP2_STREAM_ERROR') return OutboundError.from(error);
  if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) return new StaleConnection(error);
  const why = `${resetText(stream.id ?? 0, stream.rstCode)}; received from peer`;
  return new OutboundError('protocol', why, error);
}

function watchPeer(session: ClientHttp2Session): void {
  const timer = setInterval(() => {
    if (session.destroyed) return;
    const limit = setTimeout(() => session.destroy(new Error('no answer to a ping')), PING_TIMEOUT_MS);
    limit.unref();
    session.ping(() => clearTimeout(limit));
  }, PING_PERIOD_MS);
  timer.unref();
  session.once('close', () => clearInterval(timer));
}

function send(stream: ClientHttp2Stream, body: OutboundRequest['body']): void {
  if (body === undefined) return;
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    stream.end(body);
    return;
  }
  const source: Readable = body;
  source.once('error', (error) => stream.destroy(error));
  stream.once('close', () => source.destroy());
  source.pipe(stream);
}

function responseOf(
  stream: ClientHttp2Stream,
  headers: IncomingHttpHeaders,
  raw: readonly string[] | undefined,
): OutboundResponse {
  const plain: Record<string, string | string[] | undefined> = {};
  for (const [name, value] of Object.entries(headers)) if (!name.startsWith(':')) plain[name] = value;
  let trailers: Trailers = {};
  stream.once('trailers', (fields) => (trailers = trailersOf(fields)));
  const status = Number(headers[':status'] ?? 0);
  return { status, headers: plain, rawHeaders: rawOf(plain, raw), body: bodyOf(stream), trailers: () => trailers };
}

/** A stream whose connection is gone ends as one does that has said all: what it had said by then is not the whole. */
function bodyOf(stream: ClientHttp2Stream): Readable {
  const cut = (): OutboundError => new OutboundError('protocol', 'unexpected EOF');
  const body = new Transform({
    transform: (piece, _encoding, done) => done(null, piece),
    flush: (done) => done(stream.rstCode === http2.constants.NGHTTP2_NO_ERROR ? null : cut()),
    destroy: (error, done) => {
      stream.destroy();
      done(error);
    },
  });
  // Readers have their own listeners. Without this one an error in an abandoned answer would end the process.
  body.on('error', () => undefined);
  stream.on('error', (error) => body.destroy(failureOf(stream, error)));
  stream.once('close', () => stream.readableEnded || body.destroy(cut()));
  return stream.pipe(body);
}

function trailersOf(fields: IncomingHttpHeaders): Trailers {
  const named = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || name.startsWith(':') ? [] : [[name, Array.isArray(value) ? value : [value]] as const],
  );
  return Object.fromEntries(named);
}

/** The raw headers where Node provides them; else from the parsed headers, one of each. */
function rawOf(
  headers: Record<string, string | string[] | undefined>,
  raw: readonly string[] | undefined,
): readonly string[] {
  const pairs: string[] = [];
  if (Array.isArray(raw)) {
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = String(raw[i]);
      if (!name.startsWith(':')) pairs.push(name, String(raw[i + 1]));
    }
    return pairs;
  }
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) pairs.push(name, one);
  }
  return pairs;
}
