// A REST call to another server, such as a webhook. Errors have the words of kube-apiserver's client, and so do
// its habits: the call follows redirects, and retries after `Retry-After`.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { goQuote } from '../lib/go/quote.js';
import { mediaTypeFault } from './media-type-fault.js';
import { parseStatus } from './rest-status.js';
import type { OnCertificateFault } from '../outbound/certificate-faults.js';
import type { OutboundRequest, OutboundResponse } from '../outbound/messages.js';
import { collectBody } from '../outbound/http-client.js';
import { OutboundError, requestErrorText } from '../outbound/outbound-error.js';
import { withSignal } from '../outbound/with-signal.js';
import type { Trace } from '../tracing/trace.js';
import { internalError, StatusError } from './status.js';

export interface RestCall {
  readonly client: { request(request: OutboundRequest): Promise<OutboundResponse> };
  readonly url: URL;
  /** Path and query to the letter, where they are not the URL's own. */
  readonly target?: string;
  /** The address as errors show it, with the port that a URL leaves out. */
  readonly shown?: string;
  /** JSON; in pieces where it may be large, and is not to be joined. */
  readonly body: string | Buffer | readonly Buffer[];
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** For all attempts together. */
  readonly timeoutMs: number;
  /** Of an answer. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  readonly trace?: Trace | undefined;
  readonly certificateFault?: OnCertificateFault | undefined;
  readonly wait: (ms: number) => Promise<void>;
  readonly observe?: RestObserver | undefined;
}

/** Observes calls, under the names of the metrics of kube-apiserver's client. */
export interface RestObserver {
  /** A request was answered; `undefined`: it was not (`rest_client_requests_total`). */
  answered(status: number | undefined, method: string, host: string): void;
  /** A call is over, with all its attempts (`rest_client_request_duration_seconds`). */
  took(method: string, host: string, seconds: number): void;
}

export interface RestAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Why there is no answer; the message is the whole story. `canceled`: nobody waited for it any more. */
export class RestCallError extends Error {
  constructor(
    message: string,
    readonly canceled = false,
  ) {
    super(message);
  }
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** For small answers, such as a decision or a user: they are parsed without yielding. */
export const SHORT_ANSWER_BYTES = 512 * 1024;
const MAX_ATTEMPTS = 11;
const MAX_REDIRECTS = 10;
const MAX_SHOWN_BYTES = 2048;

/** POSTs. Throws a StatusError for an answer that says no, and a RestCallError when there is none. */
export async function restCall(call: RestCall): Promise<RestAnswer> {
  const { observe, url } = call;
  if (observe === undefined) return attempts(call);
  const startedMs = performance.now();
  try {
    return await attempts(call);
  } finally {
    observe.took('POST', url.host, (performance.now() - startedMs) / 1000);
  }
}

async function attempts(call: RestCall): Promise<RestAnswer> {
  const deadlineMs = performance.now() + call.timeoutMs;
  for (let attempt = 1; ; attempt++) {
    const { response, shown } = await observed(call, deadlineMs);
    const retrySeconds = attempt < MAX_ATTEMPTS ? retryAfter(response) : undefined;
    if (retrySeconds === undefined) return read(response, call.maxBytes ?? MAX_ANSWER_BYTES);
    response.body.destroy();
    const leftMs = Math.max(0, deadlineMs - performance.now());
    await waited(call, Math.min(retrySeconds * 1000, leftMs), shown);
    // A wait beyond the deadline is not followed by a last attempt.
    if (retrySeconds * 1000 >= leftMs) throw failed(shown, OutboundError.deadlineExceeded());
  }
}

async function waited({ wait, signal }: RestCall, ms: number, shown: string): Promise<void> {
  if (signal === undefined) return wait(ms);
  await withSignal(wait(ms), signal).catch((error: unknown) => {
    throw failed(shown, OutboundError.from(error));
  });
}

async function observed(call: RestCall, deadlineMs: number): ReturnType<typeof exchange> {
  const { observe, url } = call;
  try {
    const answered = await exchange(call, deadlineMs);
    observe?.answered(answered.response.status, 'POST', url.host);
    return answered;
  } catch (error) {
    observe?.answered(undefined, 'POST', url.host);
    throw error;
  }
}

/** One request, and those it is sent on to. */
async function exchange(call: RestCall, deadlineMs: number): Promise<{ response: OutboundResponse; shown: string }> {
  let { url } = call;
  let shown = call.shown ?? url.href;
  let method = 'POST';
  for (let redirects = 0; ; redirects++) {
    const timeoutMs = deadlineMs - performance.now();
    if (timeoutMs <= 0) throw failed(shown, OutboundError.deadlineExceeded());
    const response = await send(call, { method, url, shown, timeoutMs }).catch((error: unknown) => {
      throw failed(shown, OutboundError.from(error));
    });
    const to = redirectOf(response, method);
    const { location = '' } = response.headers;
    // A redirect to nowhere is an answer like any.
    if (to === undefined || location === '') return { response, shown };
    response.body.destroy();
    if (!URL.canParse(location, url.href)) {
      throw new RestCallError(`Post ${goQuote(shown)}: failed to parse Location header ${goQuote(location)}`);
    }
    if (redirects + 1 >= MAX_REDIRECTS) {
      throw new RestCallError(`Post ${goQuote(location)}: stopped after ${MAX_REDIRECTS} redirects`);
    }
    url = new URL(location, url);
    shown = url.href;
    method = to;
  }
}

interface Attempt {
  readonly method: string;
  readonly url: URL;
  readonly shown: string;
  readonly timeoutMs: number;
}

async function send(call: RestCall, { method, url, shown, timeoutMs }: Attempt): Promise<OutboundResponse> {
  const withBody = method === 'POST';
  const { client, target, signal, trace, certificateFault } = call;
  const headers: Headers = { ...call.headers, accept: 'application/json, */*' };
  const { body, bytes } = withBody ? sentBody(call.body) : {};
  if (withBody) headers['content-type'] = 'application/json';
  if (bytes !== undefined) headers['content-length'] = String(bytes);
  // Credentials go to the configured server, and not to other hosts it redirects to.
  if (url.host !== call.url.host) {
    delete headers['authorization'];
    delete headers['host'];
  }
  return client.request({
    method,
    url,
    headers,
    sendUserAgent: true,
    acceptGzip: true,
    timeoutMs,
    trace,
    certificateFault,
    shownUrl: shown,
    ...(target !== undefined && url === call.url && { target }),
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  });
}

type Headers = Record<string, string | readonly string[]>;

/** Each attempt reads pieces anew, and must say how many bytes they are. */
function sentBody(body: RestCall['body']): { readonly body: string | Buffer | Readable; readonly bytes?: number } {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return { body };
  const bytes = body.reduce((sum, { length }) => sum + length, 0);
  return { body: Readable.from(body, { objectMode: false }), bytes };
}

/** Whatever was under way at the deadline, the error is that the deadline is exceeded. */
function failed(shown: string, error: OutboundError): RestCallError {
  const shownError = error.failure === 'timeout' ? OutboundError.deadlineExceeded() : error;
  return new RestCallError(requestErrorText('POST', shown, shownError), error.failure === 'canceled');
}

/** The method of the request that follows. */
function redirectOf({ status }: OutboundResponse, method: string): string | undefined {
  switch (status) {
    case 301:
    case 302:
    case 303:
      return method === 'HEAD' ? 'HEAD' : 'GET';
    case 307:
    case 308:
      return method;
    default:
      return undefined;
  }
}

/** In seconds, from a server that is busy and says for how long. */
function retryAfter(response: OutboundResponse): number | undefined {
  const isBusy = response.status === 429 || response.status >= 500;
  return isBusy ? statedRetrySeconds(response) : undefined;
}

function statedRetrySeconds({ headers }: OutboundResponse): number | undefined {
  const text = headers['retry-after'] ?? '';
  return /^[+-]?\d{1,9}$/.test(text) ? Math.max(0, Number(text)) : undefined;
}

async function read(response: OutboundResponse, maxBytes: number): Promise<RestAnswer> {
  const { status, headers } = response;
  let body: Buffer;
  try {
    body = await collectBody(response, maxBytes);
    if (headers['content-encoding'] === 'gzip') body = await gunzip(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const { message } = OutboundError.from(error);
    throw new RestCallError(`unexpected error when reading response body. Please retry. Original error: ${message}`);
  }
  const contentType = headers['content-type'] || 'application/json';
  const fault = mediaTypeFault(contentType);
  if (fault !== undefined) throw internalError(fault);
  if (status < 200 || status > 206) throw refusal(response, body);
  return { status, contentType, body };
}

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);

/** A server of this kind says what it has against a request in a Status; of others only the code is understood. */
function refusal(response: OutboundResponse, body: Buffer): StatusError {
  const type = response.headers['content-type'] ?? '';
  const isText = type === '' || /^text\//i.test(type.trim());
  const shown = isText ? body.subarray(0, MAX_SHOWN_BYTES).toString().trim() : 'unknown';
  const [reason, message] = reasonOf(response.status, shown);
  const details = {
    causes: [{ reason: 'UnexpectedServerResponse', message: shown }],
    retryAfterSeconds: statedRetrySeconds(response) ?? 0,
  };
  return parseStatus(body) ?? new StatusError(response.status, reason, message, details);
}

function reasonOf(code: number, said: string): readonly [reason: string, message: string] {
  const [reason, message = ''] = REASONS[code] ?? [];
  if (reason !== undefined) {
    const quoted = code === 403 || code === 415 || (code === 406 && said !== '' && said !== 'unknown');
    return [reason, quoted ? said : message];
  }
  if (code >= 500) {
    return ['InternalError', `an error on the server (${goQuote(said)}) has prevented the request from succeeding`];
  }
  return ['', `the server responded with the status code ${code} but did not return more information`];
}

const REASONS: Readonly<Record<number, readonly [string, string?]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable', 'the server was unable to respond with a content type that the client supports'],
  409: ['AlreadyExists', 'the server reported a conflict'],
  415: ['UnsupportedMediaType'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
};
