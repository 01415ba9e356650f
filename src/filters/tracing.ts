// Whose trace a request belongs to, and the spans of its way through the filters.
//
//   authentication      a trace of its own, over the whole request
//   GET /api/v1/…       under the client's span where the client is believed, else under the one above; of others a new
//     audit             trace, linked to theirs
//       impersonation
//         priorityandfairness
//           authorization
//             what the handler does
//
// Whether a request is recorded is decided once it is known who sends it. One that is not goes the plain way.
import { bodyBytes, firstHeader, type HttpResponse } from '../lib/http/http.js';
import { readPeerAddress } from '../lib/http/peer-address.js';
import { MASTERS_GROUP, MONITORING_GROUP } from '../machinery/user.js';
import { readBaggage, readSpanContext, type SpanContext } from '../tracing/span-context.js';
import { type Attributes, SCOPES, type Span, type Trace } from '../tracing/trace.js';
import type { RootOptions, Tracer } from '../tracing/tracer.js';
import type { Exchange, Filter, Handler } from './exchange.js';
import { uriOf } from './request-info.js';

/** Loaded only where tracing is on. */
export type RequestTracer = Pick<Tracer, 'draw' | 'root' | 'continued' | 'unrecorded'>;

/** A filter with the name of its span, where it has one; the span covers all that comes after it, too. */
export interface Stage {
  readonly name?: string;
  readonly filter: Filter | undefined;
}

export function staged({ name, filter }: Stage): Filter | undefined {
  if (name === undefined) return filter;
  return (exchange, next) => {
    const span = exchange.span?.child(name, undefined, SCOPES.stages);
    exchange.span = span;
    return filter === undefined ? next(exchange) : filter(exchange, next);
  };
}

// hot: every request of a server with tracing
export function traceAuthentication(tracer: RequestTracer, filter: Filter): Filter {
  const traceUnrecorded = (exchange: Exchange): Trace => {
    const sent = exchange.sentTrace();
    return tracer.unrecorded(isBelieved(exchange) ? readSpanContext(sent) : undefined, readBaggage(sent.baggage));
  };
  return (exchange, next) => {
    exchange.traceUnrecorded = traceUnrecorded;
    if (!tracer.draw()) return filter(exchange, next);
    const { request, auditId } = exchange;
    const baggage = readBaggage(firstHeader(request, 'baggage'));
    const span = tracer.root({ name: 'authentication', scope: SCOPES.stages, kind: 'internal', auditId, baggage });
    exchange.span = span;
    exchange.onFinish(() => span.end());
    return filter(exchange, next);
  };
}

/** `traced` is `plain` with its stages recorded. */
export function traceRequest(tracer: RequestTracer, plain: Handler, traced: Handler): Handler {
  return (exchange) => {
    const span = requestSpan(tracer, exchange);
    exchange.span = span;
    if (span === undefined) return plain(exchange);
    exchange.onFinish((response) => {
      span.set(responseAttributes(exchange, response));
      if (response.status >= 500) span.fail('');
      // From the last stage up.
      for (let stage = exchange.span; stage !== undefined; stage = stage.above) stage.end();
    });
    return traced(exchange);
  };
}

// hot: most requests have no trace and get none.
function requestSpan(tracer: RequestTracer, exchange: Exchange): Span | undefined {
  const above = exchange.span;
  const isSent = exchange.request.headers['traceparent'] !== undefined;
  if (!isSent && above === undefined) {
    // Of those who are believed the trace began with authentication, and that one is not recorded.
    return tracer.draw() && !isBelieved(exchange) ? tracer.root(birthOf(exchange, undefined)) : undefined;
  }
  const sent = isSent ? readSpanContext(exchange.sentTrace()) : undefined;
  if (!isBelieved(exchange)) return tracer.draw() ? tracer.root(birthOf(exchange, sent)) : undefined;
  if (sent !== undefined) return sent.sampled ? tracer.continued(sent, birthOf(exchange, undefined)) : undefined;
  return above?.child(spanName(exchange), requestAttributes(exchange), SCOPES.http, 'server');
}

/** Who may join the server's work to a trace of theirs, and so decide that it is recorded. */
function isBelieved({ user, impersonator }: Exchange): boolean {
  const groups = (impersonator ?? user)?.groups ?? [];
  return groups.includes(MASTERS_GROUP) || groups.includes(MONITORING_GROUP);
}

function birthOf(exchange: Exchange, link: SpanContext | undefined): RootOptions {
  const { request, auditId } = exchange;
  return {
    name: spanName(exchange),
    scope: SCOPES.http,
    kind: 'server',
    attributes: requestAttributes(exchange),
    link,
    auditId,
    baggage: readBaggage(firstHeader(request, 'baggage')),
  };
}

function spanName({ request: { method }, info }: Exchange): string {
  if (!info.isResourceRequest) return method;
  const path = [
    info.apiPrefix,
    ...(info.apiGroup === '' ? [] : [info.apiGroup]),
    info.apiVersion,
    ...(info.namespace === '' ? [] : ['namespaces/{:namespace}']),
    info.resource,
    ...(info.name === '' ? [] : ['{:name}']),
    ...(info.subresource === '' ? [] : [info.subresource]),
  ];
  return `${method} /${path.join('/')}`;
}

const HTTPS_PORT = 443;

function requestAttributes({ request, auditId }: Exchange): Attributes {
  const { host, headers } = request;
  const peer = readPeerAddress(request.remoteAddress);
  const own = readPeerAddress(host);
  const sentBytes = Number(headers['content-length'] ?? 0);
  const [clientIp = ''] = (headers['x-forwarded-for'] ?? '').split(',', 1);
  const attributes: Record<string, string | number> = {
    'http.method': request.method,
    'http.scheme': 'https',
    'net.host.name': own.host,
    'net.sock.peer.addr': peer.host,
    'net.protocol.version': request.httpVersion,
    'http.target': uriOf(request),
    'audit-id': auditId,
  };
  if (own.port > 0 && own.port !== HTTPS_PORT) attributes['net.host.port'] = own.port;
  if (peer.port > 0) attributes['net.sock.peer.port'] = peer.port;
  if (headers['user-agent'] !== undefined) attributes['user_agent.original'] = headers['user-agent'];
  if (clientIp !== '') attributes['http.client_ip'] = clientIp.trim();
  if (sentBytes > 0) attributes['http.request_content_length'] = sentBytes;
  return attributes;
}

function responseAttributes({ request }: Exchange, { status, body }: HttpResponse): Attributes {
  const bytes = request.method === 'HEAD' ? 0 : (bodyBytes(body) ?? 0);
  return { 'http.status_code': status, ...(bytes > 0 && { 'http.response_content_length': bytes }) };
}
