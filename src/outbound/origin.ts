// The connections to one origin: an HTTP/2 session, or a pool of HTTP/1.1 connections.
import http from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { handshake } from './client-tls.js';
import type { HttpClientOptions, OutboundRequest, OutboundResponse, Upgraded } from './http-client.js';
import { type DialOptions, requestHttp1 } from './http1-request.js';
import { Http2Session } from './http2-session.js';
import { OutboundError, StaleConnection } from './outbound-error.js';
import { targetOf } from './target.js';

const IDLE_MS = 90_000;
const MAX_IDLE_CONNECTIONS = 25;

export class Origin {
  readonly #url: URL;
  readonly #options: HttpClientOptions;
  readonly #agent: PooledAgent;
  #session: Http2Session | undefined;
  /** The first connection, on its way: the requests that come meanwhile wait to learn which protocol it speaks. */
  #finding: Promise<void> | undefined;
  #speaksHttp1 = false;

  constructor(url: URL, options: HttpClientOptions) {
    this.#url = url;
    this.#options = options;
    this.#speaksHttp1 = url.protocol !== 'https:' || options.http2 === false;
    this.#agent = new PooledAgent((signal) => this.#connect(['http/1.1'], signal));
  }

  async request(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw OutboundError.aborted(signal);
      if (this.#session?.usable !== true && !this.#speaksHttp1) await this.#find(signal);
      const session = this.#session;
      try {
        if (session?.usable === true) return await session.request(request, signal);
        // One that was closed while it lay idle is noticed before what may be sent only once goes out on it.
        if (!isRepeatable(request) && this.#agent.hasIdle) await new Promise(setImmediate);
        return await requestHttp1(this.#agent, request, signal);
      } catch (error) {
        // A connection that was closed while it lay idle says nothing about the server.
        if (attempt === 1 && error instanceof StaleConnection && isRepeatable(request) && !signal.aborted) continue;
        throw error;
      }
    }
  }

  async upgrade(request: OutboundRequest, signal: AbortSignal): Promise<Upgraded | OutboundResponse> {
    const connection = await this.#connect(['http/1.1'], signal);
    return requestHttp1(new SingleUseAgent(connection), request, signal, { upgrade: true });
  }

  close(): void {
    this.#agent.retire();
    this.#session?.close();
  }

  /** Opens the connection that tells the protocol; one that others wait for, too, outlives the request that began it. */
  async #find(signal: AbortSignal): Promise<void> {
    this.#finding ??= this.#openFirst().finally(() => (this.#finding = undefined));
    await withSignal(this.#finding, signal);
  }

  async #openFirst(): Promise<void> {
    const connection = await this.#connect(['h2', 'http/1.1'], new AbortController().signal);
    if ((connection as Partial<TLSSocket>).alpnProtocol === 'h2') {
      this.#session = await Http2Session.over(connection, this.#url, IDLE_MS);
    } else {
      this.#speaksHttp1 = true;
      this.#agent.ready(connection);
    }
  }

  async #connect(protocols: readonly string[], signal: AbortSignal): Promise<Duplex> {
    const { dialer, resolve, tls } = this.#options;
    const own = targetOf(this.#url);
    const connection = await dialer.dial(resolve?.(this.#url) ?? own, signal);
    if (this.#url.protocol !== 'https:') return connection;
    return handshake(connection, { tls: tls?.() ?? {}, host: own.host, protocols, signal });
  }
}

/** What asks may be asked twice; what does something may have been done before the connection broke. */
const isRepeatable = ({ method, body }: OutboundRequest): boolean =>
  body === undefined && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS');

/** Node's pool of HTTP/1.1 connections, over connections of our own making. */
class PooledAgent extends http.Agent {
  readonly #connect: (signal: AbortSignal) => Promise<Duplex>;
  /** Opened to learn the protocol, and not used yet. */
  #ready: Duplex | undefined;

  constructor(connect: (signal: AbortSignal) => Promise<Duplex>) {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: IDLE_MS });
    this.#connect = connect;
  }

  ready(connection: Duplex): void {
    this.#ready = connection;
  }

  override createConnection(
    options: http.ClientRequestArgs,
    created?: (error: Error | null, socket: Duplex) => void,
  ): Duplex | null | undefined {
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined && !ready.destroyed) return ready;
    const { dialSignal = new AbortController().signal } = options as DialOptions;
    this.#connect(dialSignal).then(
      (socket) => created?.(null, socket),
      (error: Error) => (created as ((error: Error) => void) | undefined)?.(error),
    );
    return undefined;
  }

  get hasIdle(): boolean {
    return Object.values(this.freeSockets).some((idle) => idle !== undefined && idle.length > 0);
  }

  /** Connections in use go when their answers are read. */
  retire(): void {
    this.#ready?.destroy();
    this.maxFreeSockets = 0;
    for (const idle of Object.values(this.freeSockets)) for (const socket of idle ?? []) socket.destroy();
  }
}

/** Hands out one connection, once. */
class SingleUseAgent extends http.Agent {
  readonly #connection: Duplex;

  constructor(connection: Duplex) {
    super({ keepAlive: false });
    this.#connection = connection;
  }

  override createConnection(): Duplex {
    return this.#connection;
  }
}

function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(OutboundError.aborted(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
