// The way of a request: every filter, in the order it runs.
import type { RequestAuthenticator } from '../authn/authenticator.js';
import type { Authorizer } from '../authz/authorizer.js';
import { bodyBytes, type HttpRequest, type HttpResponse, isStream } from '../lib/http/http.js';
import type { Logs } from '../lib/telemetry/log.js';
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { RouteRefusal, StatusError } from '../machinery/status.js';
import type { OpenSeatPool } from '../workers/seat-pool.js';
import { type Audit, audit, auditRefusal, beginTrail } from './audit.js';
import { auditId } from './audit-id.js';
import { authentication, type IdentityHeaders } from './authentication.js';
import { authorization } from './authorization.js';
import { cacheControl } from './cache-control.js';
import { cors } from './cors.js';
import { countInFlight, countWatches, type Draining, retryAfter } from './draining.js';
import { Exchange, type Filter, type Handler, type Refuse } from './exchange.js';
import { goaway } from './goaway.js';
import { hsts } from './hsts.js';
import { httpLog } from './http-log.js';
import { impersonation } from './impersonation.js';
import { maxInFlight } from './max-in-flight.js';
import { panicRecovery } from './panic-recovery.js';
import { longSelectors } from './long-selectors.js';
import { requestInfo } from './request-info.js';
import type { RequestMetrics } from './request-metrics.js';
import { slowRequests, type SlowRequestsOptions } from './slow-requests.js';
import { statusAsJson } from './plain-response.js';
import { type StorageVersionBarrier, storageVersionPrecondition } from './storage-version-precondition.js';
import { cutAtDeadline, enforceDeadline, requestDeadline } from './timeout.js';
import { throttle } from './throttle.js';
import { type RequestTracer, type Stage, staged, traceAuthentication, traceRequest } from './tracing.js';
import { sendableStatus } from './unsendable-status.js';
import { MAX_UNHELD_BYTES, holdUntilSent } from './hold-until-sent.js';
import { warningHeaders } from './warnings.js';

export interface ChainOptions {
  readonly logs: Logs;
  readonly metrics: RequestMetrics;
  readonly draining: Draining;
  readonly authenticator: RequestAuthenticator;
  readonly authorizer: Authorizer;
  /** Authorizers see the selectors of a list: the `AuthorizeWithSelectors` gate, on by default. */
  readonly authorizeWithSelectors?: boolean;
  /** Encodes a refusal in the form the client accepts. */
  readonly renderStatus?: RenderStatus;
  readonly requestTimeoutMs: number;
  readonly maxRequestsInFlight: number;
  readonly maxMutatingRequestsInFlight: number;
  readonly corsAllowedOrigins: readonly string[];
  readonly hstsDirectives: readonly string[];
  readonly goawayChance: number;
  readonly shutdownSendRetryAfter: boolean;
  /** `--max-connection-bytes-per-sec`, for long-running requests; nothing is throttled without it. */
  readonly maxConnectionBytesPerSecond?: number;
  /** Nobody unknown may keep an HTTP/2 connection: the `UnauthenticatedHTTP2DOSMitigation` gate, on by default. */
  readonly closeUnknownHttp2?: boolean;
  /** By which a front proxy says who somebody is, where one is trusted. */
  readonly identityHeaders?: IdentityHeaders | undefined;
  /** Replaces the plain limits in flight. */
  readonly priorityAndFairness?: Filter;
  /** Where several processes are one server: they share the limits in flight. */
  readonly openSeatPool?: OpenSeatPool | undefined;
  /** Nothing is recorded without it. */
  readonly audit?: Audit | undefined;
  /** Tracing is off without it. */
  readonly tracing?: RequestTracer | undefined;
  /** Slow requests are logged with what the main thread did meanwhile; they are not without it. */
  readonly threadUse?: SlowRequestsOptions['threadUse'];
  /** Writes wait for it, where it is there. */
  readonly storageVersions?: StorageVersionBarrier | undefined;
  /** Faults on demand, in throwaway clusters alone. */
  readonly faults?: Filter | undefined;
}

const nowMs = (): number => performance.now();

export function buildChain(
  options: ChainOptions,
  handler: Handler,
): (request: HttpRequest) => MaybePromise<HttpResponse> {
  const { tracing } = options;
  const renderStatus = options.renderStatus ?? statusAsJson;
  const stages = onceKnown(options, renderStatus);
  const plain = compose(
    stages.map((stage) => stage.filter),
    handler,
  );
  // Only authenticated clients may request tracing.
  const answer = tracing === undefined ? plain : traceRequest(tracing, plain, compose(stages.map(staged), handler));
  const run = compose(untilKnown(options, renderStatus), answer);

  return (request) => {
    const exchange = new Exchange(request, Date.now(), performance.now());
    return whenReady(run(exchange), (response) => complete(exchange, response));
  };
}

/** The filters up to authentication, which is the last of them. */
function untilKnown(options: ChainOptions, renderStatus: RenderStatus): readonly (Filter | undefined)[] {
  const { logs, metrics, draining, tracing } = options;
  const refuse: Refuse = (error, exchange) => {
    const response = renderStatus(error, exchange);
    return options.audit === undefined ? response : auditRefusal(options.audit, exchange, response);
  };
  const authenticate = authentication({
    authenticator: options.authenticator,
    refuse,
    observe: metrics.authenticated,
    closeUnknownHttp2: options.closeUnknownHttp2 ?? true,
    identityHeaders: options.identityHeaders,
    log: logs.for('authentication'),
  });
  return [
    // First, so that even the answer to a panic carries the id that its log line names.
    auditId,
    // Whoever has something to note finds where to.
    options.audit === undefined ? undefined : beginTrail,
    // Before everything that can fail.
    panicRecovery(logs.for('panic-recovery')),
    // The request info, which all filters below read. Selectors are part of it.
    longSelectors,
    requestInfo,
    // Counts and times whatever the rest answers, refusals included.
    metrics.filter,
    // One line for each request, at -v=3 and above.
    httpLog(logs.for('http-log')),
    // Some lines for each that takes long.
    options.threadUse && slowRequests({ log: logs.for('slow-requests'), nowMs, threadUse: options.threadUse }),
    // A server that is leaving spends nothing on new requests.
    options.shutdownSendRetryAfter ? retryAfter(draining) : undefined,
    // These only set headers, and refusals below must carry them too.
    hsts(options.hstsDirectives),
    cacheControl,
    goaway(options.goawayChance),
    // Counted before they may wait for anything, so that shutdown waits for them.
    countWatches(draining),
    countInFlight(draining),
    throttle(options.maxConnectionBytesPerSecond ?? 0),
    // The clock runs from the arrival, over authentication and queueing as well.
    requestDeadline(options.requestTimeoutMs, refuse),
    enforceDeadline(metrics.timedOut),
    // A browser's preflight has no credentials, so it is answered before authentication.
    cors(options.corsAllowedOrigins),
    tracing === undefined ? authenticate : traceAuthentication(tracing, authenticate),
  ];
}

/** What runs once the client is authenticated. Stages have spans of their own where a request is traced. */
function onceKnown(options: ChainOptions, renderStatus: RenderStatus): readonly Stage[] {
  const { logs, metrics, authorizer } = options;
  return [
    // Records the authenticated user, so before impersonation.
    { name: 'audit', filter: options.audit && audit(options.audit) },
    // The fair share and the permissions are those of the user acted as.
    { name: 'impersonation', filter: impersonation({ authorizer, renderStatus, log: logs.for('impersonation') }) },
    // Before authorization, which may itself call out and must be shielded from a flood.
    options.priorityAndFairness === undefined
      ? { filter: limits(options) }
      : { name: 'priorityandfairness', filter: options.priorityAndFairness },
    {
      name: 'authorization',
      filter: authorization({
        authorizer,
        withSelectors: options.authorizeWithSelectors ?? true,
        renderStatus,
        observe: metrics.authorized,
        log: logs.for('authorization'),
      }),
    },
    // Below everything that records an answer.
    { filter: sendableStatus },
    // What the handler refuses becomes an answer here, so that every filter above sees its status.
    { filter: refusals(renderStatus) },
    // Below all that decides who may: a fault is no way around it.
    { filter: options.faults },
    // Nothing is written before the storage version is published.
    { filter: options.storageVersions && storageVersionPrecondition(options.storageVersions) },
  ];
}

type RenderStatus = (error: StatusError, exchange: Exchange) => HttpResponse;

const limits = (options: ChainOptions): Filter | undefined =>
  maxInFlight({
    readOnlyLimit: options.maxRequestsInFlight,
    mutatingLimit: options.maxMutatingRequestsInFlight,
    openSeatPool: options.openSeatPool,
    observe: options.metrics.inFlight,
    onRejected: options.metrics.dropped,
  });

/** `[a, b]` around a handler: `a` runs first and its `next` is `b`. */
function compose(filters: readonly (Filter | undefined)[], handler: Handler): Handler {
  return filters.reduceRight<Handler>((next, filter) => {
    return filter === undefined ? next : (exchange) => filter(exchange, next);
  }, handler);
}

function refusals(renderStatus: RenderStatus): Filter {
  return (exchange, next) => {
    const render = (error: unknown): HttpResponse => {
      // Who was turned away at the door was not served.
      if (error instanceof RouteRefusal) exchange.servedBy = undefined;
      if (error instanceof StatusError) return renderStatus(error, exchange);
      throw error;
    };
    try {
      const answer = next(exchange);
      return answer instanceof Promise ? answer.catch(render) : answer;
    } catch (error) {
      return render(error);
    }
  };
}

type HeaderValue = string | readonly string[];

const beside = (ours: HeaderValue | undefined, theirs: HeaderValue): HeaderValue =>
  ours === undefined ? theirs : [ours, theirs].flat();

/** Adds the headers the filters set, and notifies those who wait for the end of the answer. */
function complete(exchange: Exchange, response: HttpResponse): HttpResponse {
  const headers = exchange.responseHeaders;
  for (const name in response.headers) {
    const value = response.headers[name];
    if (value !== undefined) headers[name] = response.besideOurs ? beside(headers[name], value) : value;
  }
  if (exchange.warnings !== undefined) headers.warning = warningHeaders(exchange.warnings);
  const { status, body } = response;
  const { method, upgrade } = exchange.request;
  if (status === 101 && upgrade !== undefined) {
    upgrade.socket.once('close', () => exchange.finish(response));
    return { status, headers, body };
  }
  // HEAD answers what GET would, and nobody pulls its pieces.
  if (method === 'HEAD' || body === undefined) {
    exchange.finish(response);
    return { status, headers, body };
  }
  if (isStream(body)) {
    return { status, headers, body: { stream: (sink) => finished(exchange, response, body.stream(sink)) } };
  }
  const bytes = bodyBytes(body) ?? 0;
  if (bytes <= MAX_UNHELD_BYTES) {
    exchange.finish(response);
    return { status, headers, body };
  }
  const held = holdUntilSent(body);
  headers['content-length'] ??= String(bytes);
  const left: HttpResponse = {
    status,
    headers,
    body: { stream: (sink) => finished(exchange, response, held.stream(sink)) },
  };
  return cutAtDeadline(exchange, left);
}

/** Once all pieces are sent. */
const finished = (exchange: Exchange, response: HttpResponse, sent: Promise<void>): Promise<void> =>
  sent.finally(() => exchange.finish(response));
