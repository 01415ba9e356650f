// API Priority and Fairness, wired: its configuration from the stored objects, its filter and its dumps.
import { prefixed } from '../../lib/telemetry/prefixed.js';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../../apis/flowcontrol/mandatory.js';
import { FLOW_CONTROL_GROUP } from '../../bootstrap/flow-control/default-configuration.js';
import type { Exchange, Filter } from '../../filters/exchange.js';
import { priorityAndFairness } from '../../filters/priority-and-fairness.js';
import type { RequestMetrics } from '../../filters/request-metrics.js';
import { FlowControl } from '../../flowcontrol/flow-control.js';
import { flowControlMetrics } from '../../flowcontrol/metrics.js';
import type { ListQuery, StoredAmount } from '../../flowcontrol/work-estimate.js';
import { monotonicClock } from '../../lib/async/clock.js';
import { whenAborted } from '../../lib/async/when-aborted.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { RequestInfo } from '../../machinery/request-info.js';
import { StatusError } from '../../machinery/status.js';
import type { Options } from '../../options/options.js';
import { sentListOptions } from '../../rest/contract/query-options.js';
import type { FlowSchema, PriorityLevelConfiguration } from '../../schema/generated/flowcontrol.v1.js';
import { startInformer } from '../../storage/informer.js';
import type { Channel } from '../../workers/channel.js';
import type { OpenSeatPool } from '../../workers/seat-pool.js';
import type { PathHandler } from '../paths/paths.js';
import type { Resources } from '../kinds/resources.js';
import { dumpPaths } from './dump-paths.js';
import { REBALANCE_MS, rebalanceWithOthers } from './rebalance-workers.js';

export interface FlowControlParts {
  readonly resources: Resources;
  readonly metrics: MetricRegistry;
  readonly requests: RequestMetrics;
  /** Where several processes are one server: they share the seats. */
  readonly channel: Channel | undefined;
  readonly openSeatPool: OpenSeatPool | undefined;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

export interface WiredFlowControl {
  readonly filter: Filter;
  readonly paths: readonly PathHandler[];
}

/** Undefined when it is switched off: the plain limits hold then. */
export function buildFlowControl(options: Options, parts: FlowControlParts): WiredFlowControl | undefined {
  const { generic, features, featureGates } = options;
  if (!features.enablePriorityAndFairness) return undefined;
  const metrics = flowControlMetrics(parts.metrics);
  const flowControl = new FlowControl({
    totalSeats: generic.maxRequestsInflight + generic.maxMutatingRequestsInflight,
    openSeatPool: parts.openSeatPool,
    mandatory: { levels: MANDATORY_PRIORITY_LEVELS, schemas: MANDATORY_FLOW_SCHEMAS },
    metrics,
    clock: monotonicClock,
  });
  const watchList = featureGates.enabled('WatchList');
  followConfiguration(flowControl, parts);
  if (parts.channel === undefined) {
    const timer = setInterval(() => flowControl.rebalance(flowControl.takeDemand()), REBALANCE_MS).unref();
    whenAborted(parts.stopping, () => clearInterval(timer));
  } else rebalanceWithOthers(flowControl, parts.channel);
  return {
    filter: priorityAndFairness({
      flowControl,
      stored: (info) => storedAmount(parts.resources, info),
      listQuery: (exchange) => (watchList || exchange.info.verb !== 'watch' ? listQuery(exchange) : NO_INITIAL_EVENTS),
      sizeBased: featureGates.enabled('SizeBasedListCostEstimate'),
      requestTimeoutMs: generic.requestTimeoutMs,
      observe: parts.requests.inFlight,
      observeWaiting: parts.requests.inQueue,
      observePhase: metrics.requests,
      onRejected: parts.requests.dropped,
    }),
    paths: dumpPaths(flowControl, parts.channel),
  };
}

/** Changes of one event loop iteration take effect together. */
function followConfiguration(flowControl: FlowControl, { resources, stopping, log }: FlowControlParts): void {
  let known = false;
  let due = false;
  const changed = (): void => {
    if (!known || due) return;
    due = true;
    setImmediate(configure);
  };
  const follow = (resource: string) =>
    startInformer({
      store: resources.store({ group: FLOW_CONTROL_GROUP, resource }),
      signal: stopping,
      log: prefixed(log, resource),
      onUpsert: changed,
      onDelete: changed,
    });
  const levels = follow('prioritylevelconfigurations');
  const schemas = follow('flowschemas');
  function configure(): void {
    due = false;
    flowControl.configure(
      Array.from(levels.objects.values(), (stored) => stored.object() as PriorityLevelConfiguration),
      Array.from(schemas.objects.values(), (stored) => stored.object() as FlowSchema),
    );
  }
  void Promise.all([levels.synced, schemas.synced]).then(() => {
    known = true;
    configure();
  });
}

function storedAmount(resources: Resources, { apiGroup, apiVersion, resource }: RequestInfo): StoredAmount | undefined {
  const endpoint = resources.find(apiGroup, apiVersion, resource);
  if (endpoint === undefined) return undefined;
  const amount = resources.registry({ group: apiGroup, resource })?.store.local?.amount;
  if (amount === undefined) return undefined;
  return { objects: amount.objects, averageBytes: amount.objects === 0 ? 0 : amount.bytes / amount.objects };
}

/** Without the gate WatchList a watch costs no more than any other request, whatever its options. */
const NO_INITIAL_EVENTS: ListQuery = {
  limit: 0,
  resourceVersion: '',
  resourceVersionMatch: '',
  continueToken: '',
  selected: false,
  sendInitialEvents: false,
};

function listQuery({ request }: Exchange): ListQuery | undefined {
  try {
    const options = sentListOptions(request.query);
    return {
      limit: options.limit,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      continueToken: options.continue,
      selected: options.fieldSelector !== '' || options.labelSelector !== '',
      // What a watch from the beginning is completed with costs as it always did.
      sendInitialEvents: options.sendInitialEvents === true,
    };
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}
