import { exponentialBuckets, type CounterSeries, type MetricRegistry } from '../lib/telemetry/metrics.js';
import { boundedMemo } from '../lib/values/bounded-memo.js';
import type { ChainMember, DecisionObserver } from './chain.js';

/** Decisions by who made them. */
export function decisionMetrics(registry: MetricRegistry): DecisionObserver {
  const decisions = registry.counter({
    name: 'apiserver_authorization_decisions_total',
    help: 'Final decisions of authorizers, by type and name of the authorizer and by decision.',
    labels: ['type', 'name', 'decision'],
    stability: 'ALPHA',
  });
  // hot: once for each request, so that series are kept.
  // A chain that is replaced leaves its members behind; only those in use are kept.
  const series = (decision: 'allowed' | 'denied'): ((member: ChainMember) => CounterSeries) =>
    boundedMemo(MAX_KEPT_SERIES, ({ type, name }) => decisions.with(type, name, decision));
  const counters = { allowed: series('allowed'), denied: series('denied') };
  return (member, decision) => counters[decision](member).inc();
}

const MAX_KEPT_SERIES = 64;

export type GraphObserver = (operation: string, seconds: number) => void;

export function graphMetrics(registry: MetricRegistry): GraphObserver {
  const durations = registry.histogram({
    name: 'node_authorizer_graph_actions_duration_seconds',
    help: 'Seconds it took to apply a change to the graph of what nodes may see.',
    labels: ['operation'],
    stability: 'ALPHA',
    buckets: exponentialBuckets(0.0001, 2, 12),
  });
  return (operation, seconds) => durations.with(operation).observe(seconds);
}
