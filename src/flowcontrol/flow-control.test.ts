import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { FlowSchema } from '../schema/generated/flowcontrol.v1.js';
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
