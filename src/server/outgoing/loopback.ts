// The server as a client of itself, without a socket: a webhook may name the API's own service. Such requests pass all
// filters, as the user that the server is to itself.
import { PassThrough, Readable } from 'node:stream';
import type { Authenticated, RequestAuthenticator } from '../../authn/authenticator.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { bodyPieces, isStream } from '../../lib/http/http.js';
import { requestEntityTooLarge } from '../../machinery/status.js';
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from '../../machinery/user.js';
import { exchangeOptions, type HttpClient } from '../../outbound/http-client.js';
import type { OutboundRequest, OutboundResponse } from '../../outbound/messages.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { tracedRequest } from '../../outbound/traced-request.js';
import { withSignal } from '../../outbound/with-signal.js';
import { PlainSink } from '../../wire/http1/sinks.js';

export const SERVER_USER = { name: 'system:apiserver', groups: [MASTERS_GROUP] };

/** The user that the server's own requests have. */
export const LOOPBACK_USER = { ...SERVER_USER, groups: [AUTHENTICATED_GROUP, MASTERS_GROUP] };

const KNOWN: Authenticated = { user: LOOPBACK_USER };

export interface Loopback {
  readonly client: Pick<HttpClient, 'request' | 'close'>;
  /** Knows requests that the server made, and leaves all others to `others`. */
  authenticator<T extends RequestAuthenticator>(others: T): T;
}

/** `handler` is resolved with the first request: the server that is called is still being built. */
export function createLoopback(handler: () => HttpHandler): Loopback {
  // Nobody else has this object, so nobody else can claim to be this connection.
  const connection = {};
  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const ending = new AbortController();
    const { signal, onDone } = exchangeOptions(request, ending);
    try {
      const answering = handler()(await incoming(request, connection, ending));
      const answer = outgoing(await withSignal(Promise.resolve(answering), signal), ending);
      answer.body.once('close', onDone);
      return answer;
    } catch (error) {
      onDone();
      throw error;
    }
  };
  return {
    client: {
      close: () => undefined,
      request: (request) => (request.trace === undefined ? send(request) : tracedRequest(request, request.trace, send)),
    },
    authenticator: (others) => ({
      ...others,
      // hot: every request
      authenticate: (request) => (request.connection === connection ? KNOWN : others.authenticate(request)),
    }),
  };
}

async function incoming(
  { method, url, target, headers = {}, body }: OutboundRequest,
  connection: object,
  ending: AbortController,
): Promise<HttpRequest> {
  const bytes = await bytesOf(body);
  const [path = '', search = ''] = (target ?? url.pathname + url.search).split('?', 2);
  return {
    method,
    path,
    search,
    query: new URLSearchParams(search),
    headers: { ...joined(headers), 'content-length': String(bytes.length) },
    httpVersion: '1.1',
    remoteAddress: '127.0.0.1',
    host: url.host,
    clientCertificates: [],
    body: async (limitBytes) => {
      if (bytes.length > limitBytes) throw requestEntityTooLarge(`limit is ${limitBytes}`);
      return bytes;
    },
    bodyStream: () => (bytes.length === 0 ? undefined : Readable.from([bytes])),
    signal: ending.signal,
    connection,
    cancel: (reason) => ending.abort(reason),
  };
}

async function bytesOf(body: OutboundRequest['body']): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string' || Buffer.isBuffer(body)) return Buffer.from(body);
  return Buffer.concat(await body.toArray());
}

const joined = (headers: HttpResponse['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));

/** A stream is pulled as it is read, and ends when nobody wants any more of it. */
function outgoing({ status, headers, body }: HttpResponse, ending: AbortController): OutboundResponse {
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]));
  return { status, headers: joined(headers), rawHeaders, body: readable(body, ending) };
}

function readable(body: HttpResponse['body'], ending: AbortController): Readable {
  // Copies: whoever reads them may change them.
  if (!isStream(body)) return Readable.from(bodyPieces(body).map((piece) => Buffer.from(piece)));
  const pipe = new PassThrough();
  pipe.once('close', () => ending.abort(new OutboundError('canceled', 'context canceled')));
  body.stream(new PlainSink(pipe, ending.signal)).then(
    () => pipe.end(),
    (error: unknown) => pipe.destroy(OutboundError.from(error)),
  );
  return pipe;
}
