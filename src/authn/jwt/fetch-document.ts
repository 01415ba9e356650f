// Documents of issuers over the server's HTTP client.
import { STATUS_CODES } from 'node:http';
import { collectBody, type HttpClient } from '../../outbound/http-client.js';
import type { OutboundRequest, OutboundResponse } from '../../outbound/messages.js';
import { OutboundError, requestErrorText } from '../../outbound/outbound-error.js';
import { type FetchDocument, type IssuerDocument, ISSUER_TIMEOUT_MS, MAX_DOCUMENT_BYTES } from './issuer-http.js';

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function createFetchDocument(client: Pick<HttpClient, 'request'>, signal: AbortSignal): FetchDocument {
  return async (address, headers = {}) => {
    if (!URL.canParse(address)) throw new Error(`Get "${address}": unsupported protocol scheme ""`);
    const endMs = performance.now() + ISSUER_TIMEOUT_MS;
    let url = new URL(address);
    let sent = headers;
    for (let redirects = 0; ; redirects++) {
      const document = await get(client, {
        url,
        headers: sent,
        signal,
        timeoutMs: Math.max(1, endMs - performance.now()),
      });
      const next = document.headers['location'];
      if (!REDIRECTS.has(document.status) || next === undefined || !URL.canParse(next, url.href)) return document;
      if (redirects === MAX_REDIRECTS) throw new Error(`Get "${address}": stopped after ${MAX_REDIRECTS} redirects`);
      const target = new URL(next, url);
      // A credential is for the host it was issued for.
      if (target.host !== url.host) sent = {};
      url = target;
    }
  };
}

async function get(
  client: Pick<HttpClient, 'request'>,
  request: Omit<OutboundRequest, 'method'>,
): Promise<IssuerDocument> {
  const { url } = request;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`Get "${url.href}": unsupported protocol scheme "${url.protocol.slice(0, -1)}"`);
  }
  let response: OutboundResponse;
  let body: Buffer;
  try {
    response = await client.request({ ...request, method: 'GET', sendUserAgent: true });
    body = await collectBody(response, MAX_DOCUMENT_BYTES);
  } catch (error) {
    const failure = OutboundError.from(error);
    const late = failure.failure === 'timeout' ? ' (Client.Timeout exceeded while awaiting headers)' : '';
    throw new Error(requestErrorText('GET', url, failure) + late, { cause: error });
  }
  return {
    status: response.status,
    statusLine: `${response.status} ${STATUS_CODES[response.status] ?? ''}`,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    ),
    body: body.toString('utf8'),
  };
}
