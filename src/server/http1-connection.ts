// HTTP/1.1: the same plain requests and answers, and connections handed over on upgrade.
import http, { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { drained } from '../lib/drained.js';
import { type HttpRequest, type HttpResponse, isStream, type ResponseSink, type ResponseStream } from '../lib/http.js';
import { remember } from '../lib/remember.js';
import { parseQuery } from '../lib/request-target.js';
import { badRequest, requestEntityTooLarge } from '../machinery/status.js';
import type { ListenerHandler } from './listener.js';
import { peerAddressOf, type PeerCertificates, peerCertificatesOf } from './peer.js';

const IDLE_TIMEOUT_MS = 90_000;
const HEADERS_TIMEOUT_MS = 32_000;
const MAX_HEADER_BYTES = 1 << 20;
const CLIENT_GONE = new Error('the client is gone');

export interface Http1Options {
  readonly handler: ListenerHandler;
  readonly onError: (error: unknown) => void;
}

/** Takes sockets, TLS or plain. After `retire` every answer closes its connection. */
export function createHttp1({ handler, onError }: Http1Options): {
  accept(socket: TLSSocket | Socket): void;
  retire(): void;
} {
  let retired = false;
  const server = http.createServer({
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    // How long a body may take is the business of the request's own deadline.
    requestTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  // The server never listens itself, but only then does it begin to watch over its connections.
  server.emit('listening');
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    serve(new Http1Request(message, response), response);
  });
  server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Answers that are not an upgrade are written the usual way, on a connection that ends with them.
    const response = new ServerResponse(message);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.on('finish', () => socket.end());
    socket.on('error', () => undefined);
    serve(new Http1Request(message, response, { socket, head }), response);
  });
  return {
    accept: (socket) => server.emit('connection', socket),
    retire() {
      retired = true;
      server.closeIdleConnections();
    },
  };

  function serve(request: Http1Request, response: ServerResponse): void {
    const fail = (error: unknown): void => {
      onError(error);
      response.destroy();
    };
    try {
      const answer = handler(request);
      if (answer instanceof Promise) answer.then((value) => send(request, response, value), fail);
      else send(request, response, answer);
    } catch (error) {
      fail(error);
    }
  }

  function send(request: Http1Request, response: ServerResponse, { status, headers, body }: HttpResponse): void {
    if (status === 101) {
      // The connection belongs to whoever upgraded it.
      if (response.socket) response.detachSocket(response.socket);
      if (request.upgrade !== undefined && isStream(body)) runUpgraded(request.upgrade.socket, body);
      return;
    }
    try {
      // Connections stay open without saying so, as HTTP/1.1 has it.
      if (request.httpVersion === '1.1') response.removeHeader('connection');
      for (const name in headers) response.setHeader(canonicalName(name), headers[name] as string | string[]);
      if (retired) response.setHeader('Connection', 'close');
      response.statusCode = status;
      if (isStream(body)) return sendPieces(request, response, body);
      const pieces =
        typeof body === 'string' ? [Buffer.from(body, 'utf8')] : Buffer.isBuffer(body) ? [body] : (body ?? []);
      const bodiless = status === 204 || status === 304;
      if (!bodiless && !response.hasHeader('Content-Length')) {
        response.setHeader(
          'Content-Length',
          pieces.reduce((sum, piece) => sum + piece.length, 0),
        );
      }
      // An upload nobody read would be taken for the next request.
      if (!request.bodyEnded) response.setHeader('Connection', 'close');
      if (request.method === 'HEAD') return void response.end();
      for (const piece of pieces.slice(0, -1)) response.write(piece);
      response.end(pieces.at(-1));
    } catch (error) {
      onError(error);
      response.destroy();
    }
  }

  function runUpgraded(socket: Duplex, body: ResponseStream): void {
    const gone = new AbortController();
    socket.once('close', () => gone.abort(CLIENT_GONE));
    if (socket.destroyed) gone.abort(CLIENT_GONE);
    body.stream(new StreamSink(socket, gone.signal)).catch((error: unknown) => {
      if (!gone.signal.aborted) onError(error);
      socket.destroy();
    });
  }

  function sendPieces(request: Http1Request, response: ServerResponse, body: ResponseStream): void {
    request.responded = true;
    response.flushHeaders();
    if (request.method === 'HEAD') return void response.end();
    body.stream(new StreamSink(response, request.signal)).then(
      () => response.end(),
      (error: unknown) => {
        if (!request.signal.aborted) onError(error);
        response.destroy();
      },
    );
  }
}

const MOST_REMEMBERED = 1000;

/** `audit-id` as `Audit-Id`: people read these, and a few clients compare them with case. */
const canonicalName = remember(MOST_REMEMBERED, (name: string) =>
  name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
);

const VERSIONS: Readonly<Record<string, '1.0' | '1.1'>> = { '1.0': '1.0', '1.1': '1.1' };

class Http1Request implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly httpVersion: '1.0' | '1.1';
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly host: string;
  readonly remoteAddress: string;
  responded = false;
  private readonly peerCertificates: PeerCertificates;
  private parsedQuery: URLSearchParams | undefined = undefined;
  private controller: AbortController | undefined = undefined;
  private reason: Error | undefined = undefined;

  constructor(
    private readonly message: IncomingMessage,
    private readonly response: ServerResponse,
    readonly upgrade?: { readonly socket: Duplex | TLSSocket; readonly head: Buffer },
  ) {
    this.method = message.method ?? 'GET';
    const target = targetOf(message.url ?? '/');
    const question = target.indexOf('?');
    this.path = question < 0 ? target : target.slice(0, question);
    this.search = question < 0 ? '' : target.slice(question + 1);
    this.httpVersion = VERSIONS[message.httpVersion] ?? '1.1';
    this.headers = message.headers as Record<string, string | undefined>;
    this.rawHeaders = message.rawHeaders;
    this.host = message.headers.host ?? '';
    const { socket } = message;
    this.remoteAddress = peerAddressOf(socket);
    this.peerCertificates = peerCertificatesOf(socket as TLSSocket);
  }

  get query(): URLSearchParams {
    return (this.parsedQuery ??= parseQuery(this.search));
  }

  get clientCertificates(): readonly Buffer[] {
    return this.peerCertificates();
  }

  get bodyEnded(): boolean {
    const { message } = this;
    if (message.complete) return true;
    return message.headers['content-length'] === undefined && message.headers['transfer-encoding'] === undefined;
  }

  get signal(): AbortSignal {
    let controller = this.controller;
    if (controller === undefined) {
      controller = this.controller = new AbortController();
      if (this.reason !== undefined) controller.abort(this.reason);
      else if (this.response.destroyed) controller.abort(CLIENT_GONE);
      else this.response.once('close', () => this.controller?.abort(CLIENT_GONE));
    }
    return controller.signal;
  }

  cancel(reason: Error): void {
    this.reason = reason;
    this.controller?.abort(reason);
    if (this.responded) this.response.destroy();
  }

  body(limitBytes: number): Promise<Buffer> {
    const { message } = this;
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let size = 0;
      message.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size <= limitBytes) return void pieces.push(piece);
        message.pause();
        message.removeAllListeners('data');
        reject(requestEntityTooLarge(`limit is ${limitBytes}`));
      });
      const cutShort = (): void => reject(badRequest('unexpected EOF'));
      message.once('end', () => {
        message.off('close', cutShort);
        resolve(Buffer.concat(pieces, size));
      });
      message.once('close', cutShort);
    });
  }
}

/** Proxies may send the whole URL; only its path and query count here. */
function targetOf(url: string): string {
  if (url.startsWith('/')) return url;
  const afterHost = /^[a-z]+:\/\/[^/?]*(.*)$/i.exec(url)?.[1];
  return afterHost === undefined || afterHost === '' ? '/' : afterHost;
}

/** Over an answer, or over a connection that was handed over. */
class StreamSink implements ResponseSink {
  constructor(
    private readonly output: Writable,
    readonly signal: AbortSignal,
  ) {}

  get pendingBytes(): number {
    return this.output.writableLength;
  }

  write(chunk: Buffer | string): boolean {
    return this.output.destroyed ? false : this.output.write(chunk);
  }

  drained(): Promise<void> {
    return drained(this.output);
  }
}
