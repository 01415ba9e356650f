// The connections to one origin: an HTTP/2 session, or a pool of HTTP/1.1 connections.
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Trace } from '../tracing/trace.js';
import { answersInHttp } from './plain-http-probe.js';
import { type CertificateFault, faultsOf } from './certificate-faults.js';
import { handshake, isNoTls } from './client-tls.js';
import type { HttpClientOptions } from './http-client-options.js';
import type { OutboundRequest, OutboundResponse, Upgraded } from './messages.js';
import { type ConnectionOwner, Http1Connection } from './http1/connection.js';
import type { ExchangeOptions } from './http1/exchange.js';
import { Http1Pool } from './http1/pool.js';
import type { Http2Session } from './http2-session.js';
import { OutboundError, StaleConnection } from './outbound-error.js';
import { targetOf } from './target.js';
import { withSignal } from './with-signal.js';

const IDLE_MS = 90_000;

type Http2Module = typeof import('./http2-session.js');
/** Node's HTTP/2 is loaded for the first connection that speaks it, not by every start. */
const loadHttp2 = (): Http2Module => require('./http2-session.js') as Http2Module;

export class Origin {
  readonly #url: URL;
  readonly #options: HttpClientOptions;
  readonly #pool = new Http1Pool();
  #session: Http2Session | undefined;
  /** The first connection, on its way: the requests that come meanwhile wait to learn which protocol it speaks. */
  #finding: Promise<void> | undefined;
  #speaksHttp1 = false;
  /** Of the server's certificate, as it was shown last. */
  faults: readonly CertificateFault[] = [];

  constructor(url: URL, options: HttpClientOptions) {
    this.#url = url;
    this.#options = options;
    this.#speaksHttp1 = url.protocol !== 'https:' || options.http2 === false;
  }

  async request(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResponse> {
    const { signal } = options;
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw OutboundError.aborted(signal);
      if (this.#session?.usable !== true && !this.#speaksHttp1) await this.#find(signal, request.trace);
      const session = this.#session;
      try {
        if (session?.usable === true) return await session.request(request, options);
        return await this.#requestHttp1(request, options);
      } catch (error) {
        // A connection that was closed while it lay idle says nothing about the server.
        if (attempt === 1 && error instanceof StaleConnection && isRepeatable(request) && !signal.aborted) continue;
        throw error;
      }
    }
  }

  async upgrade(request: OutboundRequest, options: ExchangeOptions): Promise<Upgraded | OutboundResponse> {
    const connection = await this.#connect(['http/1.1'], options.signal, request.trace);
    return new Http1Connection(connection, USED_ONCE).upgrade(request, options);
  }

  close(): void {
    this.#pool.retire();
    this.#session?.close();
  }

  async #requestHttp1(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResponse> {
    const pool = this.#pool;
    // One that was closed while it lay idle is noticed before what may be sent only once goes out on it.
    if (!isRepeatable(request) && pool.hasIdle) await new Promise(setImmediate);
    const connection = pool.take() ?? pool.adopt(await this.#connect(['http/1.1'], options.signal, request.trace));
    return connection.exchange(request, options);
  }

  /** Opens the connection that negotiates the protocol. Concurrent requests share it, so it outlives the first request. */
  async #find(signal: AbortSignal, trace: Trace | undefined): Promise<void> {
    this.#finding ??= this.#openFirst(trace).finally(() => (this.#finding = undefined));
    await withSignal(this.#finding, signal);
  }

  async #openFirst(trace: Trace | undefined): Promise<void> {
    const connection = await this.#connect(['h2', 'http/1.1'], new AbortController().signal, trace);
    if ((connection as Partial<TLSSocket>).alpnProtocol === 'h2') {
      this.#session = await loadHttp2().Http2Session.over(connection, this.#url, IDLE_MS);
    } else {
      this.#speaksHttp1 = true;
      this.#pool.add(connection);
    }
  }

  async #connect(protocols: readonly string[], signal: AbortSignal, trace: Trace | undefined): Promise<Duplex> {
    const { dialer, resolve, tls, credentials, probePlainHttp = true } = this.#options;
    const own = targetOf(this.#url);
    const target = resolve?.(this.#url) ?? own;
    const connection = await dialer.dial(target, signal, trace);
    if (this.#url.protocol !== 'https:') return connection;
    try {
      const shown = { ...tls?.(), ...(await credentials?.get())?.tls };
      const secured = await handshake(connection, { tls: shown, host: own.host, protocols, signal });
      this.faults = faultsOf(secured);
      return secured;
    } catch (error) {
      const plain =
        probePlainHttp && isNoTls(error) ? await dialer.dial(target, signal).catch(() => undefined) : undefined;
      if (plain === undefined || !(await answersInHttp(plain, signal))) throw error;
      throw new OutboundError('tls', 'http: server gave HTTP response to HTTPS client', error);
    }
  }
}

/** Whatever comes of it. */
const USED_ONCE: ConnectionOwner = { idle: (connection) => connection.close(), gone: () => undefined };

/** Reads may be sent twice; a write may have been applied before the connection broke. */
const isRepeatable = ({ method, body }: OutboundRequest): boolean =>
  body === undefined && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS');
