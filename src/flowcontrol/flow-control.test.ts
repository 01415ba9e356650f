import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { FlowSchema, PriorityLevelConfigurationSpec } from '../schema/generated/flowcontrol.v1.js';
import { ownSeats } from '../workers/seat-pool.js';
import { FlowControl } from './flow-control.js';
import { flowControlMetrics } from './metrics.js';

const EXEMPT = { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };
const schemaOf = (user: string): FlowSchema => ({
  metadata: { name: `of-${user}`, uid: user },
  status: {},
  spec: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 500,
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: user } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ],
  },
});

test('the series of a schema are made for its first request, and once', () => {
  const made: string[] = [];
  const metrics = flowControlMetrics(new MetricRegistry());
  const flowControl = new FlowControl({
    totalSeats: 10,
    mandatory: { levels: new Map([['exempt', EXEMPT]]), schemas: new Map() },
    metrics: {
      ...metrics,
      schema(level, name) {
        made.push(`${level} ${name}`);
        return metrics.schema(level, name);
      },
    },
    clock: new ManualClock(),
  });
  flowControl.configure(
    [],
    Array.from({ length: 50 }, (_, i) => schemaOf(`user-${i}`)),
  );
  assert.deepEqual(made, []);
  const info = { verb: 'get', path: '/x', isResourceRequest: false } as never;
  const classified = flowControl.classify(info, { name: 'user-7', uid: '', groups: [], extra: {} });
  assert.equal(classified.name, 'of-user-7');
  assert.equal(classified.metrics, classified.metrics);
  assert.deepEqual(made, ['exempt of-user-7']);
});

test('processes that share seats rebalance by what all of them want, and come to the same', () => {
  const limited = (lendablePercent: number) => ({
    type: 'Limited',
    limited: { nominalConcurrencyShares: 10, lendablePercent, limitResponse: { type: 'Reject' } },
  });
  const processes = [0, 1].map(() => {
    return new FlowControl({
      totalSeats: 100,
      openSeatPool: ownSeats,
      mandatory: {
        levels: new Map<string, PriorityLevelConfigurationSpec>([
          ['exempt', EXEMPT],
          ['busy', limited(0)],
          ['idle', limited(80)],
        ]),
        schemas: new Map(),
      },
      metrics: flowControlMetrics(new MetricRegistry()),
      clock: new ManualClock(),
    });
  });
  const [first, second] = processes as [FlowControl, FlowControl];
  const seats = (): (number | undefined)[] =>
    processes.map(({ levels }) => levels.find(({ name }) => name === 'busy')?.seats);
  assert.deepEqual(seats(), [83, 83]);
  const demand = { seconds: 10, max: 95, average: 90, deviation: 5 };
  second.apply(first.rebalance(new Map([['busy', demand]])));
  const [own, other] = seats();
  assert.ok(own !== undefined && own > 83, String(own));
  assert.equal(other, own);
  // A change of the configuration is no round.
  for (const each of processes) each.configure([], []);
  assert.deepEqual(seats(), [own, own]);
});
