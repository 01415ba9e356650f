// What is counted and timed of every request, under the names dashboards know.
import { bodyBytes, type HttpResponse } from '../lib/http/http.js';
import {
  type Counter,
  type CounterSeries,
  type Gauge,
  type Histogram,
  type HistogramSeries,
  type MetricRegistry,
} from '../lib/telemetry/metrics.js';
import { isCancelled } from '../lib/async/cancellation.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { requestScope } from '../machinery/request-scope.js';
import type { UserInfo } from '../machinery/user.js';
import type { AuthenticationOutcome } from './authentication.js';
import type { Exchange, Filter } from './exchange.js';
import type { OnTimeout } from './timeout.js';
import { LastSecondPeak } from './last-second-peak.js';
import {
  COMPONENT,
  compressUser,
  dryRunOf,
  fieldValidationOf,
  reportedVerb,
  SCOPE,
  servedWhere,
  type Where,
  whereOf,
} from './request-labels.js';
import { type RequestMetricFamilies, requestMetricFamilies } from './request-metric-families.js';

export interface RequestMetrics {
  readonly filter: Filter;
  readonly timedOut: OnTimeout;
  readonly dropped: (exchange: Exchange) => void;
  /** The extension server of a request was not reachable. */
  readonly proxyFailed: (exchange: Exchange, code: number) => void;
  readonly inFlight: (kind: RequestKind, running: number) => void;
  readonly inQueue: (kind: RequestKind, waiting: number) => void;
  readonly authenticated: (outcome: AuthenticationOutcome, user: UserInfo | undefined, ms: number) => void;
  readonly authorized: (outcome: 'allowed' | 'denied' | 'no-opinion' | 'error', ms: number) => void;
  /** A deprecated API was requested; `removedRelease` is empty when none is planned. */
  readonly deprecated: (info: RequestInfo, removedRelease: string) => void;
}

const MAX_PATH_LABELS = 100;
const OWN_USER = 'system:apiserver';

/** `isServed` separates real resources from ones a client made up, which must not become series. */
export function createRequestMetrics(
  registry: MetricRegistry,
  isServed: (info: RequestInfo) => boolean = () => true,
): RequestMetrics {
  const metrics = requestMetricFamilies(registry);
  const known = new Map<string, RequestSeries>();
  const isMadeUp = (info: RequestInfo): boolean => info.isResourceRequest && !isServed(info);

  // hot: the series of a request are found with one look-up.
  const seriesOf = (verb: string, dryRun: string, where: Where): RequestSeries => {
    const [group, version, resource, subresource, scope, component] = where;
    const key = `${verb}\0${dryRun}\0${group}\0${version}\0${resource}\0${subresource}\0${scope}\0${component}`;
    let series = known.get(key);
    if (series === undefined) {
      series = new RequestSeries(metrics, verb, dryRun, where);
      known.set(key, series);
    }
    return series;
  };
  const authentications = outcomes(metrics.authenticationAttempts, metrics.authenticationSeconds);
  const authorizations = outcomes(metrics.authorizationAttempts, metrics.authorizationSeconds);
  // Of those that went on to the next filter.
  const authenticationFilter = metrics.filterSeconds.with('authentication');
  const authorizationFilter = metrics.filterSeconds.with('authorization');

  const strictness = new Set<string>();
  const observeFieldValidation = (directive: string): void => {
    if (strictness.has(directive)) return;
    strictness.add(directive);
    metrics.fieldValidation.with(directive);
  };

  /** Only what something served is counted: who was refused on the way there is counted by those who refused. */
  const record = (exchange: Exchange, response: HttpResponse): void => {
    const where = servedWhere(exchange, response);
    if (where === undefined) return;
    const verb = reportedVerb(exchange, where[SCOPE]);
    const seconds = (performance.now() - exchange.startedMs) / 1000;
    const othersSeconds = (exchange.latency?.ofOthersMs ?? 0) / 1000;
    seriesOf(verb, dryRunOf(exchange), where).record(response, seconds, othersSeconds);
    observeFieldValidation(fieldValidationOf(exchange));
    if (exchange.user?.name !== OWN_USER) return;
    const { apiGroup, resource, subresource } = exchange.info;
    metrics.own.with(verb, apiGroup, resource, subresource).inc();
  };

  const filter: Filter = (exchange, next) => {
    const { info } = exchange;
    if (isMadeUp(info)) return next(exchange);
    if (exchange.longRunning) {
      const scope = requestScope(info);
      const running = metrics.longRunning.with(
        reportedVerb(exchange, scope),
        ...whereOf(info, info.subresource, scope, COMPONENT),
      );
      running.add(1);
      exchange.onFinish(() => running.add(-1));
    }
    exchange.onFinish((response) => {
      // The late result of the work is observed once it is there.
      if (exchange.isLate) return;
      record(exchange, response);
      if (!exchange.longRunning && isCancelled(exchange.request)) cutOff(exchange);
    });
    return next(exchange);
  };

  const paths = new Set<string>();
  /** Paths are for clients to choose: only so many become labels. */
  const pathLabel = (path: string): string => {
    if (paths.size < MAX_PATH_LABELS) paths.add(path);
    return paths.has(path) ? path : '';
  };
  const terminated = (exchange: Exchange, code: number, component = COMPONENT): void => {
    const { info } = exchange;
    if (component === COMPONENT && isMadeUp(info)) return;
    const scope = requestScope(info);
    const subresource = info.isResourceRequest ? info.subresource : pathLabel(info.path);
    const where = whereOf(info, subresource, scope, component);
    metrics.terminations.with(reportedVerb(exchange, scope), ...where, String(code)).inc();
  };
  /** Its answer had begun. */
  const cutOff = (exchange: Exchange): void => {
    terminated(exchange, 504);
    const { info } = exchange;
    const scope = requestScope(info);
    const [group, version, resource, subresource] = whereOf(info, info.subresource, scope, COMPONENT);
    metrics.aborts.with(reportedVerb(exchange, scope), group, version, resource, subresource, scope).inc();
  };
  const timedOut: OnTimeout = (exchange, late) => {
    terminated(exchange, 504);
    late?.then(
      (response) => {
        metrics.postTimeout.with('timeout-handler', 'ok').inc();
        if (!isMadeUp(exchange.info)) record(exchange, response);
      },
      () => metrics.postTimeout.with('timeout-handler', 'panic').inc(),
    );
  };
  const dropped = (exchange: Exchange): void => {
    const { info } = exchange;
    terminated(exchange, 429);
    if (isMadeUp(info)) return;
    const scope = requestScope(info);
    const where = whereOf(info, info.subresource, scope, COMPONENT);
    metrics.total.with(reportedVerb(exchange, scope), dryRunOf(exchange), ...where, '429').inc();
  };

  return {
    filter,
    timedOut,
    dropped,
    proxyFailed: (exchange, code) => terminated(exchange, code, 'aggregator'),
    inFlight: peaks(registry, metrics.inFlight, KINDS),
    inQueue: peaks(registry, metrics.inQueue),
    authenticated(outcome, user, ms) {
      authentications(outcome, ms / 1000);
      if (user === undefined) return;
      authenticationFilter.observe(ms / 1000);
      metrics.userRequests.with(compressUser(user.name)).inc();
    },
    authorized(outcome, ms) {
      authorizations(outcome, ms / 1000);
      if (outcome === 'allowed') authorizationFilter.observe(ms / 1000);
    },
    deprecated: ({ apiGroup, apiVersion, resource, subresource }, removedRelease) =>
      metrics.deprecated.with(apiGroup, apiVersion, resource, subresource, removedRelease).set(1),
  };
}

type RequestKind = 'readOnly' | 'mutating';
const KINDS: readonly RequestKind[] = ['readOnly', 'mutating'];

/** Counts whose peak of the last second is a metric; of `always` also before there was one. */
function peaks(
  registry: MetricRegistry,
  gauge: Gauge,
  always: readonly RequestKind[] = [],
): (kind: RequestKind, count: number) => void {
  const known = new Map<RequestKind, LastSecondPeak>();
  const peakOf = (kind: RequestKind): LastSecondPeak => {
    let peak = known.get(kind);
    if (peak === undefined) {
      peak = new LastSecondPeak(() => performance.now());
      known.set(kind, peak);
    }
    return peak;
  };
  for (const kind of always) peakOf(kind);
  registry.onCollect(() => {
    for (const [kind, peak] of known) gauge.with(kind).set(peak.value);
  });
  return (kind, count) => peakOf(kind).observe(count);
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

  constructor(
    private readonly metrics: RequestMetricFamilies,
    private readonly verb: string,
    private readonly dryRun: string,
    private readonly where: Where,
  ) {
    this.seconds = metrics.duration.with(verb, dryRun, ...where);
    this.own = verb === 'WATCH' ? [] : [metrics.sli.with(verb, ...where), metrics.slo.with(verb, ...where)];
  }

  /** `othersSeconds`: of `seconds`, those spent in webhooks and queues. */
  record(response: HttpResponse, seconds: number, othersSeconds: number): void {
    let total = this.totals.get(response.status);
    if (total === undefined) {
      total = this.metrics.total.with(this.verb, this.dryRun, ...this.where, String(response.status));
      this.totals.set(response.status, total);
    }
    total.inc();
    this.seconds.observe(seconds);
    for (const histogram of this.own) histogram.observe(seconds - othersSeconds);
    if (this.verb !== 'GET' && this.verb !== 'LIST') return;
    const size = bodyBytes(response.body);
    if (size !== undefined) (this.sizes ??= this.metrics.size.with(this.verb, ...this.where)).observe(size);
  }
}
