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
  RESOURCE,
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
export const createRequestMetrics = (
  registry: MetricRegistry,
  isServed: (info: RequestInfo) => boolean = () => true,
): RequestMetrics => new RequestRecorder(registry, isServed);

class RequestRecorder implements RequestMetrics {
  readonly inFlight: RequestMetrics['inFlight'];
  readonly inQueue: RequestMetrics['inQueue'];
  readonly #families: RequestMetricFamilies;
  readonly #isServed: (info: RequestInfo) => boolean;
  /** By resource. */
  readonly #series = new Map<string, RequestSeries[]>();
  readonly #authentications: (outcome: string, seconds: number) => void;
  readonly #authorizations: (outcome: string, seconds: number) => void;
  /** Of those that went on to the next filter. */
  readonly #authenticationFilter: HistogramSeries;
  readonly #authorizationFilter: HistogramSeries;
  readonly #fieldValidation = new Set<string>();
  readonly #paths = new Set<string>();

  constructor(registry: MetricRegistry, isServed: (info: RequestInfo) => boolean) {
    const families = requestMetricFamilies(registry);
    this.#families = families;
    this.#isServed = isServed;
    this.#authentications = outcomes(families.authenticationAttempts, families.authenticationSeconds);
    this.#authorizations = outcomes(families.authorizationAttempts, families.authorizationSeconds);
    this.#authenticationFilter = families.filterSeconds.with('authentication');
    this.#authorizationFilter = families.filterSeconds.with('authorization');
    this.inFlight = peaks(registry, families.inFlight, KINDS);
    this.inQueue = peaks(registry, families.inQueue);
  }

  readonly filter: Filter = (exchange, next) => {
    if (exchange.longRunning) this.#countWhileRunning(exchange);
    exchange.onFinish((response) => {
      // The late result of the work is observed once it is there.
      if (exchange.isLate) return;
      this.#record(exchange, response);
      if (!exchange.longRunning && isCancelled(exchange.request)) this.#cutOff(exchange);
    });
    return next(exchange);
  };

  readonly timedOut: OnTimeout = (exchange, late) => {
    this.#terminated(exchange, 504);
    const { postTimeout } = this.#families;
    late?.then(
      (response) => {
        postTimeout.with('timeout-handler', 'ok').inc();
        this.#record(exchange, response);
      },
      () => postTimeout.with('timeout-handler', 'panic').inc(),
    );
  };

  readonly dropped = (exchange: Exchange): void => {
    const { info } = exchange;
    this.#terminated(exchange, 429);
    if (this.#isMadeUp(info)) return;
    const scope = requestScope(info);
    const where = whereOf(info, info.subresource, scope, COMPONENT);
    this.#families.total.with(reportedVerb(exchange, scope), dryRunOf(exchange), ...where, '429').inc();
  };

  readonly proxyFailed = (exchange: Exchange, code: number): void => this.#terminated(exchange, code, 'aggregator');

  readonly authenticated: RequestMetrics['authenticated'] = (outcome, user, ms) => {
    this.#authentications(outcome, ms / 1000);
    if (user === undefined) return;
    this.#authenticationFilter.observe(ms / 1000);
    this.#families.userRequests.with(compressUser(user.name)).inc();
  };

  readonly authorized: RequestMetrics['authorized'] = (outcome, ms) => {
    this.#authorizations(outcome, ms / 1000);
    if (outcome === 'allowed') this.#authorizationFilter.observe(ms / 1000);
  };

  readonly deprecated: RequestMetrics['deprecated'] = (info, removedRelease) => {
    const { apiGroup, apiVersion, resource, subresource } = info;
    this.#families.deprecated.with(apiGroup, apiVersion, resource, subresource, removedRelease).set(1);
  };

  #countWhileRunning(exchange: Exchange): void {
    const { info } = exchange;
    if (this.#isMadeUp(info)) return;
    const scope = requestScope(info);
    const running = this.#families.longRunning.with(
      reportedVerb(exchange, scope),
      ...whereOf(info, info.subresource, scope, COMPONENT),
    );
    running.add(1);
    exchange.onFinish(() => running.add(-1));
  }

  #isMadeUp(info: RequestInfo): boolean {
    return info.isResourceRequest && !this.#isServed(info);
  }

  /** Only what something served is counted: who was refused on the way there is counted by those who refused. */
  #record(exchange: Exchange, response: HttpResponse): void {
    const where = servedWhere(exchange, response);
    if (where === undefined) return;
    const verb = reportedVerb(exchange, where[SCOPE]);
    const series = this.#seriesOf(exchange, verb, where);
    if (series === undefined) return;
    const seconds = (performance.now() - exchange.startedMs) / 1000;
    const othersSeconds = (exchange.latency?.ofOthersMs ?? 0) / 1000;
    series.record(response, seconds, othersSeconds);
    this.#observeFieldValidation(fieldValidationOf(exchange));
    if (exchange.user?.name !== OWN_USER) return;
    const { apiGroup, resource, subresource } = exchange.info;
    this.#families.own.with(verb, apiGroup, resource, subresource).inc();
  }

  // hot: a resource has a few series, and comparing is cheaper than building a key.
  /** Undefined for what a client made up. */
  #seriesOf(exchange: Exchange, verb: string, where: Where): RequestSeries | undefined {
    const dryRun = dryRunOf(exchange);
    const ofResource = this.#series.get(where[RESOURCE]);
    const known = ofResource?.find((series) => series.isOf(verb, dryRun, where));
    if (known !== undefined || this.#isMadeUp(exchange.info)) return known;
    const series = new RequestSeries(this.#families, verb, dryRun, where);
    if (ofResource === undefined) this.#series.set(where[RESOURCE], [series]);
    else ofResource.push(series);
    return series;
  }

  #observeFieldValidation(directive: string): void {
    if (this.#fieldValidation.has(directive)) return;
    this.#fieldValidation.add(directive);
    this.#families.fieldValidation.with(directive);
  }

  /** Its answer had begun. */
  #cutOff(exchange: Exchange): void {
    const { info } = exchange;
    if (this.#isMadeUp(info)) return;
    this.#terminated(exchange, 504);
    const scope = requestScope(info);
    const [group, version, resource, subresource] = whereOf(info, info.subresource, scope, COMPONENT);
    this.#families.aborts.with(reportedVerb(exchange, scope), group, version, resource, subresource, scope).inc();
  }

  #terminated(exchange: Exchange, code: number, component = COMPONENT): void {
    const { info } = exchange;
    if (component === COMPONENT && this.#isMadeUp(info)) return;
    const scope = requestScope(info);
    const subresource = info.isResourceRequest ? info.subresource : this.#pathLabel(info.path);
    const where = whereOf(info, subresource, scope, component);
    this.#families.terminations.with(reportedVerb(exchange, scope), ...where, String(code)).inc();
  }

  /** Paths are for clients to choose: only so many become labels. */
  #pathLabel(path: string): string {
    if (this.#paths.size < MAX_PATH_LABELS) this.#paths.add(path);
    return this.#paths.has(path) ? path : '';
  }
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

  isOf(verb: string, dryRun: string, where: Where): boolean {
    return this.verb === verb && this.dryRun === dryRun && this.where.every((label, at) => label === where[at]);
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
