// The proxies of pods, services and nodes: what comes after `proxy` in the path is requested from them.
import { cleanPath } from '../../lib/text/clean-path.js';
import { escapePath } from '../../lib/go/url-parts.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { decodePath } from '../../lib/http/request-target.js';
import { internalError, serviceUnavailable, StatusError } from '../../machinery/status.js';
import type { OutboundResponse } from '../../outbound/messages.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { sendForwarded, type PassedOn, passOn } from '../../outbound/proxy/forward.js';
import { forwardUpgrade } from '../../outbound/proxy/forward-upgrade.js';
import { forwardedHeaders } from '../../outbound/proxy/headers.js';
import { forwardedUri, type LinkRules, prefixOf } from '../../outbound/proxy/links.js';
import { rewriteAnswer, UnreadableLocation } from '../../outbound/proxy/rewrite-answer.js';
import { pathAfter } from './connect-options.js';
import type { RestRequest } from '../contract/request.js';
import { streamHeaders } from './pod-streams.js';
import type { ProxiedOrigin } from './proxied-origin.js';

export async function proxy(request: RestRequest, origin: ProxiedOrigin): Promise<HttpResponse> {
  const { http } = request;
  const ownPath = ownPathOf(request);
  if (http.upgrade !== undefined) return proxyUpgrade(request, origin, ownPath);
  const path = decodePath(http.path) ?? http.path;
  const question = http.search === '' ? '' : `?${http.search}`;
  if (ownPath === '' && (http.method === 'GET' || http.method === 'HEAD')) {
    return { status: 301, headers: { location: `${path}/${question}` }, body: '' };
  }
  const wanted = ownPath === '' ? '/' : ownPath;
  const prefix = prefixOf(path, ownPath);
  const answer = await sendForwarded(http, {
    client: origin.client,
    origin: origin.url,
    target: `${escapePath(wanted)}${question}`,
    headers: { ...forwardedHeaders(http), 'x-forwarded-uri': forwardedUri(prefix, wanted) },
  }).catch((error: unknown) => {
    throw serviceUnavailable(`error trying to reach service: ${OutboundError.from(error).message}`);
  });
  const rules = { prefix, scheme: '', host: '', sourceHost: origin.host, requestHost: http.host };
  return passOn(http, rewritten(answer, rules)).catch((error: unknown) => {
    throw error instanceof OutboundError ? new StatusError(500, '', error.message) : error;
  });
}

function rewritten(answer: OutboundResponse, rules: LinkRules): PassedOn {
  try {
    return rewriteAnswer(answer, rules);
  } catch (error) {
    if (error instanceof UnreadableLocation)
      throw internalError(`error trying to parse Location header: ${error.message}`);
    throw error;
  }
}

/** The query does not go along. */
async function proxyUpgrade(request: RestRequest, origin: ProxiedOrigin, ownPath: string): Promise<HttpResponse> {
  try {
    return await forwardUpgrade(request.http, {
      client: origin.client,
      origin: origin.url,
      target: escapePath(ownPath === '' ? '/' : ownPath),
      headers: streamHeaders(request),
    });
  } catch (error) {
    throw new StatusError(500, '', OutboundError.from(error).message);
  }
}

/** Decoded and cleaned; a slash at its end stays. */
function ownPathOf({ info }: RestRequest): string {
  const path = pathAfter(info);
  const clean = cleanPath(path);
  return path.endsWith('/') && !clean.endsWith('/') ? `${clean}/` : clean;
}
