import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '../authz/authorizer.js';
import { errorText } from '../lib/text/error-text.js';
import { goQuote } from '../lib/go/quote.js';
import type { HttpResponse } from '../lib/http/http.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { readFieldSelector, readLabelSelector } from '../machinery/read-selector.js';
import { forbidden, type StatusError } from '../machinery/status.js';
import { ANONYMOUS_USER, UNAUTHENTICATED_GROUP, type UserInfo } from '../machinery/user.js';
import { withSignal } from '../outbound/with-signal.js';
import type { Exchange, Filter } from './exchange.js';
import { escapeHtml, internalServerError } from './plain-response.js';
import { uriOf } from './request-info.js';

export interface AuthorizationOptions {
  readonly authorizer: Authorizer;
  /** Whether authorizers see selectors. */
  readonly withSelectors: boolean;
  readonly renderStatus: (error: StatusError, exchange: Exchange) => HttpResponse;
  readonly observe: (outcome: 'allowed' | 'denied' | 'no-opinion' | 'error', ms: number) => void;
  readonly log: Logger;
}

/** Lets through what the user may do. */
export function authorization(options: AuthorizationOptions): Filter {
  const { authorizer, withSelectors, renderStatus, observe, log } = options;
  return (exchange, next) => {
    const startedMs = performance.now();
    const attributes = attributesOf(exchange, withSelectors);
    const go = (result: AuthorizationResult): MaybePromise<HttpResponse> => {
      const ms = performance.now() - startedMs;
      const { trail } = exchange;
      if (trail !== undefined) trail.authorizationMs = ms;
      if (result.decision === 'allow') {
        observe('allowed', ms);
        trail?.authorized('allow', result.reason);
        return next(exchange);
      }
      if (result.evaluationError !== undefined) {
        observe('error', ms);
        trail?.authorized('error', 'internal error');
        return internalServerError(uriOf(exchange.request), result.evaluationError);
      }
      observe(result.decision === 'deny' ? 'denied' : 'no-opinion', ms);
      log.v(4)?.info('Forbidden', { URI: uriOf(exchange.request), reason: result.reason });
      trail?.authorized('forbid', result.reason);
      return noSniff(renderStatus(forbiddenError(attributes, result.reason), exchange));
    };
    const deciding = authorizer.authorize(attributes, exchange.request);
    return deciding instanceof Promise ? unlessEnded(deciding, exchange.request.signal).then(go) : go(deciding);
  };
}

/** A request whose time is over, or whose client is gone, waits for nobody's decision. */
export async function unlessEnded(
  deciding: Promise<AuthorizationResult>,
  signal: AbortSignal,
): Promise<AuthorizationResult> {
  try {
    return await withSignal(deciding, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { decision: 'no-opinion', reason: '', evaluationError: errorText(error) };
  }
}

const NOBODY: UserInfo = { name: ANONYMOUS_USER, groups: [UNAUTHENTICATED_GROUP] };

function attributesOf({ info, user }: Exchange, withSelectors: boolean): AuthorizationAttributes {
  return {
    user: user ?? NOBODY,
    verb: info.verb,
    resourceRequest: info.isResourceRequest,
    apiGroup: info.apiGroup,
    apiVersion: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    path: info.path,
    ...(withSelectors && info.fieldSelector !== '' && { fieldSelector: readFieldSelector(info.fieldSelector) }),
    ...(withSelectors && info.labelSelector !== '' && { labelSelector: readLabelSelector(info.labelSelector) }),
  };
}

/** Who cannot do what, and the authorizer's reason where it has one. */
export function forbiddenError(attributes: AuthorizationAttributes, reason: string): StatusError {
  const why = escapeHtml(forbiddenText(attributes));
  const { apiGroup: group, resource, name } = attributes;
  return forbidden({ group, resource }, name, reason === '' ? why : `${why}: ${reason}`);
}

function forbiddenText(attributes: AuthorizationAttributes): string {
  const who = `User ${goQuote(attributes.user.name)} cannot ${attributes.verb}`;
  if (!attributes.resourceRequest) return `${who} path ${goQuote(attributes.path)}`;
  const { resource, subresource, namespace } = attributes;
  const what = goQuote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(attributes.apiGroup)} ${where}`;
}

/** Refusals quote what the client sent; a browser must not guess that it is a page. */
export const noSniff = (response: HttpResponse): HttpResponse => ({
  ...response,
  headers: { ...response.headers, 'x-content-type-options': 'nosniff' },
});
