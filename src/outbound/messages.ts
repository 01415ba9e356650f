// What the HTTP client sends and what comes back.
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { TellFault } from './certificate-faults.js';
import type { Trailers } from './http1/trailers.js';
import type { Trace } from '../tracing/trace.js';

export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  /** The whole address as it is told to others, with the port that a URL leaves out. */
  readonly shownUrl?: string;
  /** Path and query to the letter, where they are not the URL's own. */
  readonly target?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Says what kind of client asks, where the headers do not: some servers turn away who does not. */
  readonly sendUserAgent?: boolean;
  /** The answer may be packed by gzip, and whoever reads it unpacks it. */
  readonly acceptGzip?: boolean;
  readonly body?: Buffer | string | Readable;
  /** Ends the exchange, the answer's body included. */
  readonly signal?: AbortSignal;
  /** For the whole exchange, the answer's body included; none without it. */
  readonly timeoutMs?: number;
  /** On whose behalf: the other side is told, and the call recorded where that is. */
  readonly trace?: Trace | undefined;
  /** Told what is wrong with the server's certificate, also where it is trusted. */
  readonly certificateFault?: TellFault | undefined;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values by turns, as sent; names in lower case over HTTP/2. */
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
