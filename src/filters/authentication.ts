import { AuthenticationError, type Authenticated, type RequestAuthenticator } from '../authn/authenticator.js';
import type { HttpResponse } from '../lib/http/http.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { unauthorized } from '../machinery/status.js';
import { ANONYMOUS_USER, UNAUTHENTICATED_GROUP, type UserInfo } from '../machinery/user.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { withSignal } from '../outbound/with-signal.js';
import type { Exchange, Filter, Refuse } from './exchange.js';

export type AuthenticationOutcome = 'success' | 'failure' | 'error';

export interface AuthenticationOptions {
  readonly authenticator: RequestAuthenticator;
  readonly refuse: Refuse;
  readonly observe: (outcome: AuthenticationOutcome, user: UserInfo | undefined, ms: number) => void;
  /** Nobody unknown may keep an HTTP/2 connection: streams are cheap to open and expensive to serve. */
  readonly closeUnknownHttp2: boolean;
  /**
   * Headers, in lower case, by which a front proxy says who somebody is: once that is settled nobody sees them again,
   * lest a server behind this one believes what a client made up.
   */
  readonly identityHeaders?: IdentityHeaders | undefined;
  readonly log: Logger;
}

export interface IdentityHeaders {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

/** Finds out who sends the request; a credential that is refused answers 401 and goes no further. */
export function authentication(options: AuthenticationOptions): Filter {
  const { authenticator, observe, log } = options;
  const closeHttp2 = ({ request, responseHeaders }: Exchange): void => {
    if (options.closeUnknownHttp2 && request.httpVersion === '2.0') responseHeaders.connection = 'close';
  };

  const refuse = (
    exchange: Exchange,
    outcome: AuthenticationOutcome,
    startedMs: number,
  ): MaybePromise<HttpResponse> => {
    observe(outcome, undefined, performance.now() - startedMs);
    closeHttp2(exchange);
    return options.refuse(unauthorized('Unauthorized'), exchange);
  };

  return (exchange, next) => {
    const startedMs = performance.now();
    const go = (result: Authenticated | undefined): MaybePromise<HttpResponse> => {
      if (result === undefined) return refuse(exchange, 'failure', startedMs);
      const { user, audiences } = result;
      const ms = performance.now() - startedMs;
      observe('success', user, ms);
      if (exchange.trail !== undefined) exchange.trail.authenticationMs = ms;
      if (isAnonymous(user)) closeHttp2(exchange);
      if (result.warnings !== undefined) for (const warning of result.warnings) exchange.warn(warning);
      for (const key in result.annotations) exchange.annotate(key, result.annotations[key] ?? '');
      exchange.websocketProtocols = result.websocketProtocols;
      if (options.identityHeaders !== undefined) removeHeaders(exchange, options.identityHeaders);
      exchange.user = user;
      exchange.audiences = audiences;
      return next(exchange);
    };
    const fail = (error: unknown): MaybePromise<HttpResponse> => {
      const ended = error instanceof OutboundError && exchange.request.signal.aborted;
      if (!ended && !(error instanceof AuthenticationError)) throw error;
      log.error(error, 'Unable to authenticate the request');
      return refuse(exchange, 'error', startedMs);
    };
    let result: MaybePromise<Authenticated | undefined>;
    try {
      result = authenticator.authenticate(exchange.request);
    } catch (error) {
      return fail(error);
    }
    // A request that nobody waits for does not wait for who might know it.
    return result instanceof Promise ? withSignal(result, exchange.request.signal).then(go, fail) : go(result);
  };
}

/** The object may be shared with the next request that sends the same, which must still say who it is from. */
function removeHeaders({ request }: Exchange, { names, prefixes }: IdentityHeaders): void {
  const isRemoved = (name: string): boolean =>
    names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
  if (!Object.keys(request.headers).some(isRemoved)) return;
  const left = Object.create(null) as Record<string, string | undefined>;
  for (const name in request.headers) if (!isRemoved(name)) left[name] = request.headers[name];
  request.headers = left;
}

const isAnonymous = (user: UserInfo): boolean =>
  user.name === ANONYMOUS_USER || user.groups.includes(UNAUTHENTICATED_GROUP);
