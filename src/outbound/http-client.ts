// The server's only HTTP client. Each kind of outbound call (webhooks, issuers, extension servers, nodes) has an instance,
// with its own egress, its own TLS and its own connections, which are kept alive.
//
// Which protocol a server speaks is found by its first connection: one HTTP/2 session serves all requests to an origin,
// or a pool of HTTP/1.1 connections does.
import type { Readable } from 'node:stream';
import { CollectedBytes } from '../lib/values/collected-bytes.js';
import { type CertificateFault, faultsOfError, type OnCertificateFault } from './certificate-faults.js';
import type { ClientTls } from './client-tls.js';
import { WholeBody } from './http1/answer-body.js';
import type { ExchangeOptions } from './http1/exchange.js';
import type { Credentials } from './credential-plugin.js';
import { Origin } from './origin.js';
import { PacedConnection } from './paced.js';
import { withSignal } from './with-signal.js';
import { OutboundError } from './outbound-error.js';
import { tracedRequest } from './traced-request.js';
import type { OutboundRequest, OutboundResponse, Upgraded } from './messages.js';
import type { HttpClientOptions } from './http-client-options.js';

/** The most origins kept. The least recently used is closed for a new one. */
const MAX_ORIGINS = 1000;
const UNAUTHORIZED = 401;

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #origins = new Map<string, Origin>();
  #closed = false;
  #shownCert: ClientTls['cert'];

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Rejects with an OutboundError. A redirect is an answer like any other. */
  request(request: OutboundRequest): Promise<OutboundResponse> {
    const answer =
      request.trace === undefined
        ? this.#request(request)
        : tracedRequest(request, request.trace, (traced) => this.#request(traced));
    return request.certificateFault === undefined
      ? answer
      : this.#reportingFaults(request, request.certificateFault, answer);
  }

  async #reportingFaults(
    { url }: OutboundRequest,
    onFault: OnCertificateFault,
    answer: Promise<OutboundResponse>,
  ): Promise<OutboundResponse> {
    const report = (faults: readonly CertificateFault[]): void => {
      for (const fault of faults) onFault(fault, url.hostname.replace(/^\[|\]$/g, ''));
    };
    try {
      const given = await answer;
      report(this.#origins.get(keyOf(url))?.faults ?? []);
      return given;
    } catch (error) {
      report(faultsOfError(error));
      throw error;
    }
  }

  async #request(request: OutboundRequest): Promise<OutboundResponse> {
    const options = exchangeOptions(request);
    const { credentials } = this.#options;
    try {
      if (credentials === undefined)
        return await this.#origin(request.url).request(this.#withHeaders(request), options);
      const shown = await withSignal(credentials.get(), options.signal);
      this.#rotate(shown);
      const answer = await this.#origin(request.url).request(this.#withHeaders(request, shown), options);
      if (answer.status === UNAUTHORIZED) credentials.refused(shown);
      return answer;
    } catch (error) {
      options.onDone();
      throw options.signal.aborted ? OutboundError.aborted(options.signal) : OutboundError.from(error);
    }
  }

  /** Requests a protocol upgrade, on a connection of its own. A server that declines sends an ordinary answer. */
  async upgrade(request: OutboundRequest): Promise<Upgraded | OutboundResponse> {
    const options = exchangeOptions(request);
    try {
      const answer = await this.#origin(request.url).upgrade(this.#withHeaders(request), options);
      const { upgradedBytesPerSecond = 0 } = this.#options;
      if (!('socket' in answer) || upgradedBytesPerSecond <= 0) return answer;
      return { ...answer, socket: new PacedConnection(answer.socket, upgradedBytesPerSecond) };
    } catch (error) {
      throw options.signal.aborted ? OutboundError.aborted(options.signal) : OutboundError.from(error);
    } finally {
      // From here on the streams' owners decide how long they live.
      options.onDone();
    }
  }

  /** Idle connections end now, those in use when they are done. */
  close(): void {
    this.#closed = true;
    this.renewConnections();
  }

  /** Requests from now on go over new connections; those in use end when they are done. */
  renewConnections(): void {
    for (const origin of this.#origins.values()) origin.close();
    this.#origins.clear();
  }

  #withHeaders(request: OutboundRequest, shown?: Credentials): OutboundRequest {
    const { headers, gzip } = this.#options;
    if (headers === undefined && gzip !== false && shown === undefined) return request;
    const token = shown?.token ?? '';
    const known = token === '' ? undefined : { authorization: `Bearer ${token}` };
    const acceptGzip = gzip !== false && request.acceptGzip === true;
    return { ...request, acceptGzip, headers: { ...known, ...headers?.(), ...request.headers } };
  }

  /** Connections are known by the certificate they began with. */
  #rotate({ tls }: Credentials): void {
    if (this.#shownCert !== undefined && this.#shownCert !== tls.cert) this.renewConnections();
    this.#shownCert = tls.cert;
  }

  #origin(url: URL): Origin {
    if (this.#closed) throw new OutboundError('canceled', 'http: the client is closed');
    const key = keyOf(url);
    let origin = this.#origins.get(key);
    if (origin !== undefined) {
      // Maps keep their order of insertion: what was used last stands last.
      this.#origins.delete(key);
    } else {
      origin = new Origin(url, this.#options);
      for (const [oldest, unused] of this.#origins) {
        if (this.#origins.size < MAX_ORIGINS) break;
        unused.close();
        this.#origins.delete(oldest);
      }
    }
    this.#origins.set(key, origin);
    return origin;
  }
}

const keyOf = ({ protocol, host }: URL): string => `${protocol}//${host}`;

/** The whole body, where it has at most `limitBytes`; beyond that the rest is not read. */
export async function collectBody({ body }: Pick<OutboundResponse, 'body'>, limitBytes: number): Promise<Buffer> {
  try {
    if (!(body instanceof WholeBody)) return await collectStream(body, limitBytes);
    if (body.bytes.length > limitBytes) throw tooLarge(limitBytes);
    return body.bytes;
  } catch (error) {
    throw OutboundError.from(error);
  } finally {
    body.destroy();
  }
}

async function collectStream(body: Readable, limitBytes: number): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (collected.size + chunk.length > limitBytes) throw tooLarge(limitBytes);
    collected.add(chunk);
  }
  return collected.take();
}

const tooLarge = (limitBytes: number): OutboundError =>
  new OutboundError('too-large', `the answer is larger than ${limitBytes} bytes`);

/** One signal for the caller's own and the time; `onDone` releases both. */
export function exchangeOptions(
  { signal, timeoutMs }: OutboundRequest,
  controller = new AbortController(),
): ExchangeOptions {
  const onAbort = (): void => controller.abort(signal?.reason);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(OutboundError.deadlineExceeded()), timeoutMs);
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    onDone: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
