// Hands a request on to another server and its answer back, as both come: nothing is collected.
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { peekStream } from './peek-stream.js';
import { guessMediaType } from './guess-media-type.js';
import type { HttpRequest, HttpResponse, ResponseStream } from '../../lib/http/http.js';
import type { HttpClient } from '../http-client.js';
import type { OutboundResponse } from '../messages.js';
import { OutboundError } from '../outbound-error.js';
import type { OnCertificateFault } from '../certificate-faults.js';
import type { Trace } from '../../tracing/trace.js';
import { type Headers, returnedTrailers } from './headers.js';

export interface Destination {
  readonly client: HttpClient;
  /** Scheme, host and port. */
  readonly origin: URL;
  /** Path and query, as they are sent. */
  readonly target: string;
  /** As `forwardedHeaders` or `upgradeHeaders` made them, and what the caller adds. */
  readonly headers: Headers;
  /** The trace of the request, where its context is sent. */
  readonly trace?: Trace | undefined;
  readonly certificateFault?: OnCertificateFault | undefined;
  /** The whole address as traces show it. */
  readonly shownUrl?: string;
}

/** The answer, before it is passed on. Rejects with an OutboundError when there is none. */
export async function sendForwarded(request: HttpRequest, destination: Destination): Promise<OutboundResponse> {
  const { client, origin, target, headers, trace, certificateFault, shownUrl } = destination;
  const body = request.bodyStream();
  return requestDecompressed(client, {
    method: request.method,
    url: origin,
    target,
    headers,
    signal: request.signal,
    trace,
    certificateFault,
    ...(shownUrl !== undefined && { shownUrl }),
    ...(body !== undefined && { body }),
  });
}

/** Another server's answer, as the client is to get it. */
export interface PassedOn {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
  readonly trailers?: OutboundResponse['trailers'];
  /** The body is another's than the other server's, of another length. */
  readonly isRewritten?: boolean;
}

/** A rewritten page up to this size has a Content-Length. */
const MAX_PAGE_BYTES = 1024 * 1024;

/**
 * Forwards the answer's body with `status` and `headers`. A body that breaks off breaks off for the client, too. Rejects
 * with an OutboundError where a page cannot be rewritten.
 */
export async function passOn(
  request: HttpRequest,
  { status, headers, body, trailers, isRewritten }: PassedOn,
): Promise<HttpResponse> {
  if (request.method === 'HEAD' || status === 204 || status === 304) {
    body.destroy();
    // An answer that says nothing is new has no form either, and one that has no content no length.
    const dropped = NOT_FORWARDED[status] ?? [];
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name)));
    return { status, headers: kept, body: undefined, besideOurs: true };
  }
  if (isRewritten === true) {
    const { bytes, isWhole } = await peekStream(body, MAX_PAGE_BYTES, PEEK_TIMEOUT_MS).catch((error: unknown) => {
      throw OutboundError.from(error);
    });
    if (isWhole) return { status, headers, body: bytes, besideOurs: true };
  }
  const bytes = streamOf(body, (error) => request.cancel?.(error));
  const withTrailers: ResponseStream = {
    async stream(sink) {
      await bytes.stream(sink);
      const fields = returnedTrailers(trailers?.() ?? {});
      if (Object.keys(fields).length > 0) sink.trail?.(fields);
    },
  };
  return {
    status,
    headers: { ...headers, ...(await guessedType(headers, body)) },
    body: withTrailers,
    besideOurs: true,
  };
}

const NOT_FORWARDED: Readonly<Record<number, readonly string[]>> = {
  204: ['content-length'],
  304: ['content-type', 'content-length'],
};

/** An answer that lets others wait goes on as it comes. */
const PEEK_TIMEOUT_MS = 200;

/** What the body is, where nobody says. */
async function guessedType(headers: Headers, body: Readable): Promise<Headers> {
  if (headers['content-type'] !== undefined || headers['content-encoding'] !== undefined) return {};
  // One that breaks off does so for who reads it.
  const { bytes = Buffer.alloc(0) } = await peekStream(body, 1, PEEK_TIMEOUT_MS).catch(() => ({ bytes: undefined }));
  return bytes.length === 0 ? {} : { 'content-type': guessMediaType(bytes) };
}

/** Reads only as fast as the client does. Calls `onBroken` when the source breaks off; the answer then fails. */
export function streamOf(source: Readable, onBroken?: (error: OutboundError) => void): ResponseStream {
  return {
    async stream(sink) {
      const stop = (): void => void source.destroy();
      sink.signal.addEventListener('abort', stop, { once: true });
      try {
        for await (const chunk of source as AsyncIterable<Buffer>) {
          if (!sink.write(chunk)) await sink.drained();
          if (sink.signal.aborted) break;
        }
      } catch (error) {
        // The client is gone and `stop` destroyed the source: it did not break off.
        if (sink.signal.aborted) return;
        const broken = OutboundError.from(error);
        onBroken?.(broken);
        throw broken;
      } finally {
        sink.signal.removeEventListener('abort', stop);
        source.destroy();
      }
    },
  };
}

/**
 * A client that sends no Accept-Encoding gets an uncompressed body; the other server may still send gzip, which is
 * decompressed here.
 */
export async function requestDecompressed(
  client: HttpClient,
  request: Parameters<HttpClient['request']>[0],
): Promise<OutboundResponse> {
  const { headers = {}, method } = request;
  const asked = headers['accept-encoding'] === undefined && headers['range'] === undefined && method !== 'HEAD';
  if (!asked) return client.request(request);
  const answer = await client.request({ ...request, headers: { ...headers, 'accept-encoding': 'gzip' } });
  // Of nothing at all there is nothing to unpack.
  const isEmpty = answer.headers['content-length'] === '0';
  if (isEmpty || answer.headers['content-encoding']?.toLowerCase() !== 'gzip') return answer;
  const body = answer.body.pipe(createGunzip());
  answer.body.once('error', (error) => body.destroy(error));
  body.once('close', () => answer.body.destroy());
  body.on('error', () => undefined);
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = answer.headers;
  const rawHeaders = answer.rawHeaders.flatMap((name, i, raw) =>
    i % 2 === 1 || /^content-(encoding|length)$/i.test(name) ? [] : [name, String(raw[i + 1])],
  );
  return { ...answer, headers: rest, rawHeaders, body };
}
