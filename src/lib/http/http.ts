// A request and its answer as plain values, so that filters and handlers run without sockets.
import type { TLSSocket } from 'node:tls';
import type { Duplex, Readable } from 'node:stream';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { Cancellation } from '../async/cancellation.js';

export interface HttpRequest extends Cancellation {
  readonly method: string;
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The raw query text, without `?`; empty when there is none. */
  readonly search: string;
  /**
   * Names in lower case; a header sent several times is joined with ", ". Requests that sent the same may share the
   * object: a filter that removes a header replaces the object.
   */
  headers: Readonly<Record<string, string | undefined>>;
  readonly httpVersion: '1.1' | '2.0' | '1.0';
  readonly remoteAddress: string;
  /** The `Host` header or HTTP/2's :authority. */
  readonly host: string;
  /** The peer's verified or unverified certificate chain, leaf first, as DER; empty without one. */
  readonly clientCertificates: readonly Buffer[];
  /** Reads the whole body, at most `limitBytes`; rejects with a 413 StatusError beyond it. */
  body(limitBytes: number): Promise<Buffer>;
  /** The body as it comes, read only as fast as it is consumed; undefined where there is none. Instead of `body`. */
  bodyStream(): Readable | undefined;
  /** Aborts when the client goes away or the request's time is over. */
  readonly signal: AbortSignal;
  /** As `whenAborted` of the signal, without making one. */
  whenStopped?(run: () => void): () => void;
  /** Names and values alternating, as sent; for headers whose repeated values must stay apart. */
  readonly rawHeaders?: readonly string[];
  /** The same value for all requests of one connection: a cache key for what they share. */
  readonly connection?: object;
  /** Ends the request early: `signal` aborts, and an answer already begun is cut. */
  cancel?(reason: Error): void;
  /** Only on HTTP/1.1 upgrade requests: the connection, handed over for good. */
  readonly upgrade?: { readonly socket: Duplex | TLSSocket; readonly head: Buffer };
}

/** Every value of a header, in the order sent. `name` is in lower case. */
export function headerValues(request: HttpRequest, name: string): readonly string[] {
  const joined = request.headers[name];
  if (joined === undefined) return [];
  const raw = request.rawHeaders;
  if (raw === undefined) return [joined];
  const values: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() === name) values.push(raw[i + 1] ?? '');
  }
  return values;
}

/**
 * The first value of a header, where only that counts: sent again, it is joined with the others and says something that
 * nobody sent. `name` is in lower case.
 */
// hot: nearly always there is but one.
export function firstHeader(request: HttpRequest, name: string): string | undefined {
  const joined = request.headers[name];
  return joined?.includes(', ') ? headerValues(request, name)[0] : joined;
}

/**
 * An upgrade request whose connection was handed over answers status 101, and nothing is written. A stream it has for a
 * body runs once the connection is free of HTTP; the bytes it writes go out as they are.
 */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: ResponseBody;
  /** What follows a whole body, where the connection can send it (HTTP/2); a stream has `trail` for it. */
  readonly trailers?: HttpResponse['headers'];
  /** Another server's headers: they stand beside those that the filters set, not in their place. */
  readonly besideOurs?: boolean;
  /** The API object the answer is, for whoever records it; absent where the body is anything else. */
  readonly object?: AnsweredObject | undefined;
}

export type AnsweredForm = 'object' | 'list' | 'table' | 'status';

export interface AnsweredObject {
  readonly form: AnsweredForm;
  /** Its JSON, where the body is not just that. */
  readonly json?: () => MaybePromise<string | Buffer>;
}

/**
 * The bytes of an answer: all at once, or in pieces.
 * A list of buffers is written in order without being joined. A stream is pulled only as fast as the client reads.
 */
export type ResponseBody = WholeBody | ResponseStream;
/** An answer that is there. */
export type WholeBody = Buffer | string | readonly Buffer[] | undefined;

/** A long or endless answer. It writes until it returns; `signal` aborts when the client is gone. */
export interface ResponseStream {
  stream(sink: ResponseSink): Promise<void>;
}

export interface ResponseSink {
  /** Queues bytes; false when the client has not read what was sent before (then await `drained`). */
  write(chunk: Buffer | string): boolean;
  drained(): Promise<void>;
  /** Bytes queued and not yet accepted by the socket. */
  readonly pendingBytes: number;
  readonly signal: AbortSignal;
  /** Says that nothing follows what was written, so that the end leaves with it; absent where that saves nothing. */
  last?(): void;
  /** What follows the last piece, by names in lower case; absent where nothing can. */
  trail?(fields: HttpResponse['headers']): void;
  /** As `whenAborted` of the signal, without making one: for what is kept by the thousand. */
  whenGone?(run: () => void): () => void;
}

/** Asks for a connection of WebSocket messages instead of an answer. */
export const isWebSocketRequest = ({ headers }: HttpRequest): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket' && (headers.connection ?? '').toLowerCase().includes('upgrade');

/** The answer's header object becomes the wire's own, to be completed in place: it must be new for each answer. */
export type HttpHandler = (request: HttpRequest) => MaybePromise<HttpResponse>;

// hot: several times for each request, and to look for a member of values of such different kinds takes V8 long.
export const isStream = (body: ResponseBody): body is ResponseStream =>
  typeof body === 'object' && !Array.isArray(body) && !Buffer.isBuffer(body);

const NO_PIECES: readonly Buffer[] = [];

// hot: once for each answer.
export function bodyPieces(body: WholeBody): readonly Buffer[] {
  if (body === undefined) return NO_PIECES;
  if (typeof body === 'string') return [Buffer.from(body, 'utf8')];
  return Buffer.isBuffer(body) ? [body] : (body as readonly Buffer[]);
}

/** `undefined` for an answer in pieces: nobody has counted them. */
export function bodyBytes(body: WholeBody): number;
export function bodyBytes(body: ResponseBody): number | undefined;
export function bodyBytes(body: ResponseBody): number | undefined {
  if (body === undefined) return 0;
  if (isStream(body)) return undefined;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (Buffer.isBuffer(body)) return body.length;
  let bytes = 0;
  for (const piece of body) bytes += piece.length;
  return bytes;
}
