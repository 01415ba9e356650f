import { type Attributes, SCOPES, type Trace } from '../tracing/trace.js';
import type { OutboundRequest, OutboundResponse } from './messages.js';
import { OutboundError } from './outbound-error.js';

/** A request within a trace: sends the trace context, and records the request as a child span. */
export async function tracedRequest(
  request: OutboundRequest,
  trace: Trace,
  send: (request: OutboundRequest) => Promise<OutboundResponse>,
): Promise<OutboundResponse> {
  const { headers, span } = trace.calling(`HTTP ${request.method}`, SCOPES.http, () => requestAttributes(request));
  const traced = { ...request, headers: { ...request.headers, ...headers }, trace: span };
  if (span === undefined) return send(traced);
  try {
    const response = await send(traced);
    const { status } = response;
    const bytes = Number(response.headers['content-length'] ?? 0);
    span.set({ 'http.status_code': status, ...(bytes > 0 && { 'http.response_content_length': bytes }) });
    if (status >= 400) span.fail('');
    response.body.once('close', () => span.end());
    return response;
  } catch (error) {
    const { message } = OutboundError.from(error);
    span.event('exception', { 'exception.type': 'OutboundError', 'exception.message': message });
    span.fail(message);
    span.end();
    throw error;
  }
}

function requestAttributes({ method, url, shownUrl, target, headers = {}, body }: OutboundRequest): Attributes {
  const agent = headers['user-agent'];
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : Buffer.isBuffer(body) ? body.length : 0;
  const port = Number(url.port);
  return {
    'http.method': method,
    'http.url': shownUrl ?? (target === undefined ? url.href : url.origin + target),
    'net.peer.name': url.hostname.replace(/^\[|\]$/g, ''),
    ...(port > 0 && { 'net.peer.port': port }),
    ...(typeof agent === 'string' && { 'user_agent.original': agent }),
    ...(bytes > 0 && { 'http.request_content_length': bytes }),
  };
}
