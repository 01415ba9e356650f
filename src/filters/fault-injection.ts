// Faults on demand, for tests of clients: only throwaway clusters have this filter.
import { pause } from '../lib/async/pause.js';
import type { HttpResponse } from '../lib/http/http.js';
import {
  conflict,
  expired,
  internalError,
  serviceUnavailable,
  STALE_OBJECT,
  type StatusError,
  timeout,
  tooManyRequests,
} from '../machinery/status.js';
import type { Exchange, Filter, Handler } from './exchange.js';
import { EXEMPT_AGENT } from './exempt-agent.js';
import type { Fault, FaultRules, Hit } from './fault-rules.js';
import { faultyWatch } from './faulty-watch.js';

/** What the audit event of a request says of the faults that hit it. */
const FAULT_ANNOTATION = 'testing.binnacle/fault';

export interface FaultInjection {
  /** In force now; undefined when all is well. */
  readonly rules: FaultRules | undefined;
  /** The version of so many changes ago, or the oldest that is known. */
  versionBefore(changes: number): number;
}

/** `ownUser`: of the server's own requests, which are not hit. */
export function faultInjection(faults: FaultInjection, ownUser: string): Filter {
  return (exchange, next) => {
    const { rules } = faults;
    if (rules === undefined || !exchange.info.isResourceRequest) return next(exchange);
    if (exchange.user?.name === ownUser || exchange.request.headers['user-agent'] === EXEMPT_AGENT)
      return next(exchange);
    const hits = rules.draw(exchange);
    if (hits.length === 0) return next(exchange);
    exchange.annotate(FAULT_ANNOTATION, hits.map(hitText).join(', '));
    return withFaults(hits, exchange, next, faults);
  };
}

async function withFaults(
  hits: readonly Hit[],
  exchange: Exchange,
  next: Handler,
  faults: FaultInjection,
): Promise<HttpResponse> {
  let lost: StatusError | undefined;
  const watchFaults: Fault[] = [];
  for (const { fault } of hits) {
    switch (fault.kind) {
      case 'slow':
        await pause(fault.delayMs, exchange.request.signal);
        break;
      case 'error':
        if (!fault.after) throw errorOf(fault, exchange);
        lost ??= errorOf(fault, exchange);
        break;
      case 'stale-list':
        readThePast(exchange, faults.versionBefore(fault.behind));
        break;
      default:
        watchFaults.push(fault);
    }
  }
  const response = await next(exchange);
  if (lost !== undefined && response.status < 400) throw lost;
  return watchFaults.length === 0 ? response : faultyWatch(response, watchFaults);
}

const hitText = ({ fault, rule }: Hit): string =>
  `rule ${rule}: ${fault.kind}${fault.kind === 'error' ? ` ${fault.code}${fault.after ? ' after' : ''}` : ''}`;

/** In the words that clients know. */
function errorOf(fault: Fault & { kind: 'error' }, { info }: Exchange): StatusError {
  const { apiGroup: group, resource, name } = info;
  switch (fault.code) {
    case 409:
      return conflict({ group, resource }, name, STALE_OBJECT);
    case 410:
      return expired(`The resourceVersion for the provided ${info.verb === 'watch' ? 'watch' : 'list'} is too old.`);
    case 429:
      return tooManyRequests('too many requests, please try again later.', fault.retryAfterSeconds);
    case 500:
      return internalError('etcdserver: request timed out');
    case 503:
      return serviceUnavailable('the server is currently unable to handle the request');
    case 504:
      return timeout('request did not complete within the allotted timeout');
  }
}

/** Only where any version satisfies the client: no server answers others from the past. */
function readThePast({ request: { query } }: Exchange, version: number): void {
  if (query.get('resourceVersion') !== '0' || query.has('continue') || query.has('resourceVersionMatch')) return;
  query.set('resourceVersion', String(version));
  query.set('resourceVersionMatch', 'Exact');
}
