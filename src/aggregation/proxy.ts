// Hands requests for an extension server's group version on to it, with the user's identity and our certificate.
import type { Logger } from '../lib/telemetry/log.js';
import { encodeQuery, escapePath } from '../lib/go/url-parts.js';
import { goQuote } from '../lib/go/quote.js';
import type { HttpRequest, HttpResponse } from '../lib/http/http.js';
import type { CertificateNotes } from '../machinery/certificate-notes.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import type { Trace } from '../tracing/trace.js';
import type { OnCertificateFault } from '../outbound/certificate-faults.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { sendForwarded, passOn } from '../outbound/proxy/forward.js';
import { forwardUpgrade } from '../outbound/proxy/forward-upgrade.js';
import { forwardedHeaders, type Headers, upgradeHeaders } from '../outbound/proxy/headers.js';
import { forwardedUri } from '../outbound/proxy/links.js';
import { rewriteAnswer, UnreadableLocation } from '../outbound/proxy/rewrite-answer.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { isAvailable } from './api-services.js';
import { identityHeaders } from './identity-headers.js';
import { RemoteError, type RemoteServer, type RemoteServers } from './remote-servers.js';

export interface ProxiedRequest {
  readonly request: HttpRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly auditId: string;
  readonly trace?: Trace;
  /** Observes that no server is reachable, and the status of the answer. */
  readonly failed?: (status: number) => void;
  /** Puts a note on the request's audit event. */
  readonly annotate?: (key: string, value: string) => void;
}

export interface ExtensionProxyOptions {
  readonly servers: RemoteServers;
  /** `--aggregator-reject-forwarding-redirect` */
  readonly rejectRedirects: boolean;
  readonly certificates: CertificateNotes;
  readonly log: Logger;
}

export async function proxyToExtension(
  service: Readonly<APIService>,
  proxied: ProxiedRequest,
  options: ExtensionProxyOptions,
): Promise<HttpResponse> {
  const fail = (status: number, text: string): HttpResponse => {
    proxied.failed?.(status);
    return plain(status, `${text}\n`);
  };
  if (!isAvailable(service)) return fail(503, 'service unavailable');
  let server: RemoteServer;
  try {
    server = await options.servers.reach(service);
  } catch (error) {
    if (error instanceof RemoteError) return fail(500, error.message);
    options.log.info(`${service.metadata.name ?? ''}: ${OutboundError.from(error).message}`);
    return fail(503, 'service unavailable');
  }
  const certificateFault = proxied.annotate && options.certificates(proxied.annotate);
  return handOn(proxied, server, { ...options, certificateFault });
}

export interface HandOnOptions {
  readonly rejectRedirects: boolean;
  /** Go along with what the client sent. */
  readonly headers?: Headers;
  readonly certificateFault?: OnCertificateFault | undefined;
}

/** The other server's answer, or a refusal in plain words where there is none. */
export const handOn = (proxied: ProxiedRequest, server: RemoteServer, options: HandOnOptions): Promise<HttpResponse> =>
  proxied.request.upgrade === undefined ? proxy(proxied, server, options) : upgrade(proxied, server, options);

async function proxy(
  { request, info, user, auditId, trace }: ProxiedRequest,
  server: RemoteServer,
  { rejectRedirects, headers: more, certificateFault }: HandOnOptions,
): Promise<HttpResponse> {
  const headers: Headers = {
    ...forwardedHeaders(request),
    host: server.host,
    'x-forwarded-host': server.host,
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': forwardedUri('', info.path),
    'audit-id': auditId,
    ...identityHeaders(user),
    ...more,
  };
  let answer;
  try {
    const target = targetOf(request, info);
    const shownUrl = `https://${server.host}${target}`;
    answer = await sendForwarded(request, { ...server, target, shownUrl, headers, trace, certificateFault });
  } catch (error) {
    return plain(503, `error trying to reach service: ${OutboundError.from(error).message}\n`);
  }
  const { location } = answer.headers;
  if (rejectRedirects && location !== undefined && answer.status >= 300 && answer.status < 400) {
    answer.body.destroy();
    return plain(502, 'the backend attempted to redirect this request, which is not permitted');
  }
  const rules = { prefix: '', scheme: 'https', host: server.host, sourceHost: server.host, requestHost: server.host };
  try {
    return await passOn(request, rewriteAnswer(answer, rules));
  } catch (error) {
    if (error instanceof OutboundError) return plain(503, `error trying to reach service: ${error.message}\n`);
    if (!(error instanceof UnreadableLocation)) throw error;
    const why = `error trying to parse Location header: ${goQuote(error.location)}`;
    return plain(503, `error trying to reach service: ${why}\n`);
  }
}

async function upgrade(
  { request, info, user, auditId }: ProxiedRequest,
  server: RemoteServer,
  { headers: more }: HandOnOptions,
): Promise<HttpResponse> {
  const headers = {
    ...upgradeHeaders(request),
    host: server.host,
    'audit-id': auditId,
    ...identityHeaders(user),
    ...more,
  };
  try {
    return await forwardUpgrade(request, { ...server, target: targetOf(request, info), headers });
  } catch (error) {
    return plain(503, `${OutboundError.from(error).message}\n`);
  }
}

/** The path as it was read, escaped anew, and the query sorted by its names. */
function targetOf({ query }: HttpRequest, { path }: RequestInfo): string {
  const question = encodeQuery(query);
  return question === '' ? escapePath(path) : `${escapePath(path)}?${question}`;
}

const plain = (status: number, text: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: text,
});
