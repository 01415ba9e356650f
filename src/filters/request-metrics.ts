// What is counted and timed of every request, under the names dashboards know.
import { bodyBytes, type HttpResponse } from '../lib/http.js';
import {
  type Counter,
  type CounterSeries,
  exponentialBuckets,
  type Histogram,
  type HistogramSeries,
  type MetricRegistry,
} from '../lib/metrics.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { requestScope } from '../machinery/request-scope.js';
import type { UserInfo } from '../machinery/user.js';
import type { AuthenticationOutcome } from './authentication.js';
import type { Exchange, Filter } from './exchange.js';

export interface RequestMetrics {
  readonly filter: Filter;
  readonly timedOut: (exchange: Exchange) => void;
  readonly dropped: (exchange: Exchange) => void;
  readonly inFlight: (kind: 'readOnly' | 'mutating', running: number) => void;
  readonly authenticated: (outcome: AuthenticationOutcome, user: UserInfo | undefined, ms: number) => void;
  readonly authorized: (outcome: 'allowed' | 'denied' | 'no-opinion' | 'error', ms: number) => void;
  /** A deprecated API was asked for; `removedRelease` is empty when none is planned. */
  readonly deprecated: (info: RequestInfo, removedRelease: string) => void;
}

const SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const WHERE = ['group', 'version', 'resource', 'subresource', 'scope', 'component'];
const MAX_PATH_LABELS = 100;
const COMPONENT = 'apiserver';
const METHODS: ReadonlySet<string> = new Set(
  'APPLY CONNECT CREATE DELETE DELETECOLLECTION GET HEAD LIST PATCH POST PROXY PUT UPDATE WATCH WATCHLIST'.split(' '),
);

/** `isServed` tells real resources from ones a client made up, which must not become series. */
export function createRequestMetrics(
  registry: MetricRegistry,
  isServed: (info: RequestInfo) => boolean = () => true,
): RequestMetrics {
  const metrics = register(registry);
  const known = new Map<string, RequestSeries>();

  // hot: the series of a request are found with one look-up.
  const seriesOf = (
    verb: string,
    dryRun: string,
    { apiGroup, apiVersion, resource }: RequestInfo,
    subresource: string,
    scope: string,
  ): RequestSeries => {
    const key = `${verb}\0${dryRun}\0${apiGroup}\0${apiVersion}\0${resource}\0${subresource}\0${scope}`;
    let series = known.get(key);
    if (series === undefined) {
      series = new RequestSeries(metrics, [verb, dryRun, apiGroup, apiVersion, resource, subresource, scope]);
      known.set(key, series);
    }
    return series;
  };
  const authentications = outcomes(metrics.authenticationAttempts, metrics.authenticationSeconds);
  const authorizations = outcomes(metrics.authorizationAttempts, metrics.authorizationSeconds);

  const filter: Filter = (exchange, next) => {
    const { info, startedMs } = exchange;
    if (info.isResourceRequest && !isServed(info)) return next(exchange);
    const verb = reportedVerb(exchange);
    const scope = requestScope(info);
    const { apiGroup, apiVersion, resource } = info;
    const subresource = info.isResourceRequest ? info.subresource : subpathOf(info.path);
    const running = exchange.longRunning
      ? metrics.longRunning.with(verb, apiGroup, apiVersion, resource, subresource, scope, COMPONENT)
      : undefined;
    running?.add(1);
    exchange.onFinish((response) => {
      running?.add(-1);
      const series = seriesOf(verb, dryRunOf(exchange), info, subresource, scope);
      const seconds = (performance.now() - startedMs) / 1000;
      series.record(response, seconds, (exchange.latency?.ofOthersMs ?? 0) / 1000);
    });
    return next(exchange);
  };

  const paths = new Set<string>();
  /** Paths are for clients to choose: only so many become labels. */
  const pathLabel = (path: string): string => {
    if (paths.size < MAX_PATH_LABELS) paths.add(path);
    return paths.has(path) ? path : '';
  };
  const terminated = (exchange: Exchange, code: string): void => {
    if (exchange.info.isResourceRequest && !isServed(exchange.info)) return;
    const { apiGroup, apiVersion, resource } = exchange.info;
    const subresource = exchange.info.isResourceRequest ? exchange.info.subresource : pathLabel(exchange.info.path);
    metrics.terminations
      .with(
        reportedVerb(exchange),
        apiGroup,
        apiVersion,
        resource,
        subresource,
        requestScope(exchange.info),
        COMPONENT,
        code,
      )
      .inc();
  };

  return {
    filter,
    timedOut: (exchange) => terminated(exchange, '504'),
    dropped: (exchange) => terminated(exchange, '429'),
    inFlight: (kind, running) => metrics.inFlight.with(kind).set(running),
    authenticated(outcome, user, ms) {
      authentications(outcome, ms / 1000);
      if (user !== undefined) metrics.userRequests.with(compressUser(user.name)).inc();
    },
    authorized: (outcome, ms) => authorizations(outcome, ms / 1000),
    deprecated: ({ apiGroup, apiVersion, resource, subresource }, removedRelease) =>
      metrics.deprecated.with(apiGroup, apiVersion, resource, subresource, removedRelease).set(1),
  };
}

/** Counts and times by outcome. */
function outcomes(attempts: Counter, times: Histogram): (outcome: string, seconds: number) => void {
  const known = new Map<string, { readonly attempts: CounterSeries; readonly times: HistogramSeries }>();
  // hot: twice for each request.
  return (outcome, seconds) => {
    let series = known.get(outcome);
    if (series === undefined) {
      series = { attempts: attempts.with(outcome), times: times.with(outcome) };
      known.set(outcome, series);
    }
    series.attempts.inc();
    series.times.observe(seconds);
  };
}

/** Where requests with the same labels are counted. */
class RequestSeries {
  private readonly totals = new Map<number, CounterSeries>();
  private readonly seconds: HistogramSeries;
  /** None of watches, which last as long as their clients want. */
  private readonly own: readonly HistogramSeries[];
  private sizes: HistogramSeries | undefined;
  private readonly labels: readonly [string, ...string[]];
  private readonly plain: readonly [string, ...string[]];

  constructor(
    private readonly metrics: ReturnType<typeof register>,
    [verb = '', dryRun = '', ...where]: readonly string[],
  ) {
    this.labels = [verb, dryRun, ...where, COMPONENT];
    this.plain = [verb, ...where, COMPONENT];
    this.seconds = metrics.duration.with(...this.labels);
    this.own = verb === 'WATCH' ? [] : [metrics.sli.with(...this.plain), metrics.slo.with(...this.plain)];
  }

  /** `othersSeconds`: of `seconds`, those spent in webhooks and queues. */
  record(response: HttpResponse, seconds: number, othersSeconds: number): void {
    let total = this.totals.get(response.status);
    if (total === undefined) {
      total = this.metrics.total.with(...this.labels, String(response.status));
      this.totals.set(response.status, total);
    }
    total.inc();
    this.seconds.observe(seconds);
    for (const histogram of this.own) histogram.observe(seconds - othersSeconds);
    const [verb] = this.labels;
    if (verb !== 'GET' && verb !== 'LIST') return;
    const size = bodyBytes(response.body);
    if (size !== undefined) (this.sizes ??= this.metrics.size.with(...this.plain)).observe(size);
  }
}

function register(registry: MetricRegistry) {
  return {
    total: registry.counter({
      name: 'apiserver_request_total',
      help: 'Requests answered, by verb, dry run, resource, scope, component and status code.',
      labels: ['verb', 'dry_run', ...WHERE, 'code'],
      stability: 'STABLE',
    }),
    duration: registry.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Seconds from arrival to the end of the answer.',
      labels: ['verb', 'dry_run', ...WHERE],
      buckets: SECONDS,
      stability: 'STABLE',
    }),
    slo: registry.histogram({
      name: 'apiserver_request_slo_duration_seconds',
      help: 'Seconds of a request without the time spent in webhooks and queues.',
      labels: ['verb', ...WHERE],
      buckets: SECONDS.slice(2),
      stability: 'ALPHA',
      deprecatedVersion: '1.27',
    }),
    sli: registry.histogram({
      name: 'apiserver_request_sli_duration_seconds',
      help: 'Seconds of a request without the time spent in webhooks and queues.',
      labels: ['verb', ...WHERE],
      buckets: SECONDS.slice(2),
      stability: 'ALPHA',
    }),
    size: registry.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of the answers to reads.',
      labels: ['verb', ...WHERE],
      buckets: exponentialBuckets(1000, 10, 7),
      stability: 'STABLE',
    }),
    longRunning: registry.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and connections now open.',
      labels: ['verb', ...WHERE],
      stability: 'STABLE',
    }),
    terminations: registry.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests the server ended to protect itself.',
      labels: ['verb', ...WHERE, 'code'],
      stability: 'ALPHA',
    }),
    inFlight: registry.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests now running, of each class with a limit.',
      labels: ['request_kind'],
      stability: 'STABLE',
    }),
    deprecated: registry.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated APIs that were asked for, and the release that removes them.',
      labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
      stability: 'STABLE',
    }),
    authenticationAttempts: registry.counter({
      name: 'authentication_attempts',
      help: 'Authentications, by their result.',
      labels: ['result'],
      stability: 'ALPHA',
    }),
    authenticationSeconds: registry.histogram({
      name: 'authentication_duration_seconds',
      help: 'Seconds an authentication took.',
      labels: ['result'],
      buckets: exponentialBuckets(0.001, 2, 15),
      stability: 'ALPHA',
    }),
    userRequests: registry.counter({
      name: 'authenticated_user_requests',
      help: 'Authenticated requests; user names stand for themselves only where they are few.',
      labels: ['username'],
      stability: 'ALPHA',
    }),
    authorizationAttempts: registry.counter({
      name: 'authorization_attempts_total',
      help: 'Authorizations, by their result.',
      labels: ['result'],
      stability: 'ALPHA',
    }),
    authorizationSeconds: registry.histogram({
      name: 'authorization_duration_seconds',
      help: 'Seconds an authorization took.',
      labels: ['result'],
      buckets: exponentialBuckets(0.001, 2, 15),
      stability: 'ALPHA',
    }),
  };
}

function reportedVerb({ request, info }: Exchange): string {
  if (info.isResourceRequest) {
    if (info.verb === 'watch') return 'WATCH';
    if (info.verb === 'list') return 'LIST';
    if (info.verb === 'get') return CONNECTS.has(info.subresource) ? 'CONNECT' : 'GET';
    if (request.method === 'PATCH' && (request.headers['content-type'] ?? '').startsWith('application/apply-patch+')) {
      return 'APPLY';
    }
    if (request.method === 'POST' && CONNECTS.has(info.subresource)) return 'CONNECT';
  }
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return METHODS.has(method) ? method : 'other';
}

const CONNECTS: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

/** Paths a client makes up must not become series: only the server's own are told apart. */
const OWN_PATHS: ReadonlySet<string> = new Set(
  '/healthz /livez /readyz /metrics /version /openapi/v2 /openapi/v3 /api /apis'.split(' '),
);
const subpathOf = (path: string): string => (OWN_PATHS.has(path) ? path : '');

function dryRunOf({ request }: Exchange): string {
  if (request.search === '') return '';
  const values = request.query.getAll('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}

function compressUser(name: string): string {
  switch (name) {
    case 'admin':
    case 'client':
    case 'kube_proxy':
    case 'kubelet':
    case 'system:serviceaccount:kube-system:default':
      return name;
    default:
      return name.includes('@') ? 'email_id' : 'other';
  }
}
