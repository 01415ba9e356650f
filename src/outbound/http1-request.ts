// One exchange over HTTP/1.1.
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { OutboundRequest, OutboundResponse, Upgraded } from './http-client.js';
import { OutboundError, StaleConnection } from './outbound-error.js';

const MAX_HEADER_BYTES = 1024 * 1024;

/** How an agent learns when to give up a connection it opens for a request. */
export interface DialOptions {
  readonly dialSignal?: AbortSignal;
}

const dialSignal = (signal: AbortSignal): DialOptions => ({ dialSignal: signal });

export function requestHttp1(
  agent: http.Agent,
  request: OutboundRequest,
  signal: AbortSignal,
  options: { readonly upgrade: true },
): Promise<Upgraded | OutboundResponse>;
export function requestHttp1(
  agent: http.Agent,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse>;
export function requestHttp1(
  agent: http.Agent,
  request: OutboundRequest,
  signal: AbortSignal,
  { upgrade }: { readonly upgrade?: boolean } = {},
): Promise<Upgraded | OutboundResponse> {
  return new Promise((resolve, reject) => {
    const { url, method, headers = {}, body } = request;
    const outgoing = http.request({
      agent,
      method,
      // Only shown: the connection is made by the agent.
      host: url.hostname,
      path: request.target ?? url.pathname + url.search,
      headers: { host: url.host, ...(headers as http.OutgoingHttpHeaders), ...lengthOf(body, method, headers) },
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
      // Node keeps `signal` from its agents.
      ...dialSignal(signal),
    });
    // Connections are kept without saying so: that is the default of HTTP/1.1, and what the reference sends.
    if (upgrade !== true && headers.connection === undefined) outgoing.removeHeader('connection');
    const fail = (error: unknown): void => {
      if (signal.aborted) reject(OutboundError.aborted(signal));
      else if (isClosed(error) && outgoing.reusedSocket) reject(new StaleConnection(error));
      else reject(OutboundError.from(error));
    };
    outgoing.once('error', fail);
    outgoing.once('response', (incoming) => {
      // A body that is still on its way may fail after the answer; the answer's own stream tells of it.
      outgoing.on('error', () => undefined);
      resolve(responseOf(incoming));
    });
    outgoing.once('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (upgrade === true) resolve({ status: 101, ...headersOf(incoming), socket, head });
      else {
        socket.destroy();
        fail(new OutboundError('protocol', 'unexpected upgrade'));
      }
    });
    send(outgoing, body);
  });
}

function lengthOf(
  body: OutboundRequest['body'],
  method: string,
  headers: NonNullable<OutboundRequest['headers']>,
): http.OutgoingHttpHeaders {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return {};
  if (body === undefined) return method === 'GET' || method === 'HEAD' ? {} : { 'content-length': 0 };
  if (typeof body === 'string' || Buffer.isBuffer(body)) return { 'content-length': Buffer.byteLength(body) };
  // Node would send the body of some methods without saying where it ends.
  return { 'transfer-encoding': 'chunked' };
}

function send(outgoing: ClientRequest, body: OutboundRequest['body']): void {
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) {
    outgoing.end(body);
    return;
  }
  const source: Readable = body;
  source.once('error', (error) => outgoing.destroy(error));
  outgoing.once('close', () => source.destroy());
  source.pipe(outgoing);
}

const responseOf = (incoming: IncomingMessage): OutboundResponse => ({
  status: incoming.statusCode ?? 0,
  ...headersOf(incoming),
  body: incoming,
});

const headersOf = ({ headers, rawHeaders }: IncomingMessage): Pick<OutboundResponse, 'headers' | 'rawHeaders'> => ({
  headers,
  rawHeaders,
});

const isClosed = (error: unknown): boolean => {
  const { code } = error as { readonly code?: unknown };
  return code === 'ECONNRESET' || code === 'EPIPE';
};
