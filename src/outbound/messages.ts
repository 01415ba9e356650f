// What the HTTP client sends and what comes back.
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { OnCertificateFault } from './certificate-faults.js';
import type { Trailers } from './http1/trailers.js';
import type { Trace } from '../tracing/trace.js';

export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  /** The whole address for traces and logs, with the port that a URL omits. */
  readonly shownUrl?: string;
  /** The exact request target, where it differs from the URL's path and query. */
  readonly target?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Adds a User-Agent where the headers have none: some servers reject requests without one. */
  readonly sendUserAgent?: boolean;
  /** The answer may be gzip, and the caller decompresses it. */
  readonly acceptGzip?: boolean;
  readonly body?: Buffer | string | Readable;
  /** Ends the exchange, the answer's body included. */
  readonly signal?: AbortSignal;
  /** For the whole exchange, the answer's body included; none without it. */
  readonly timeoutMs?: number;
  /** The trace of the request: its context is sent, and the call is recorded as a child span. */
  readonly trace?: Trace | undefined;
  /** Called with each fault of the server's certificate, also where the certificate is trusted. */
  readonly certificateFault?: OnCertificateFault | undefined;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, as sent; names in lower case over HTTP/2. */
  readonly rawHeaders: readonly string[];
  /** Must be read or destroyed: the connection is not used again before. */
  readonly body: Readable;
  /** What came after the body, once that was read to its end. */
  readonly trailers?: () => Trailers;
}

export interface Upgraded {
  readonly status: 101;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly socket: Duplex;
  /** What came along with the answer. */
  readonly head: Buffer;
}
