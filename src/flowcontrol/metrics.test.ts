import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import { flowControlMetrics } from './metrics.js';

const linesOf = (registry: MetricRegistry, name: string): string[] =>
  registry
    .text()
    .split('\n')
    .filter((line) => line.startsWith(`apiserver_flowcontrol_${name}`));

test('meters are read when metrics are scraped; nothing was dispatched where nothing is said', () => {
  const registry = new MetricRegistry();
  const metrics = flowControlMetrics(registry);
  const lastDispatch = { r: 2, start: 1, nextMin: 3, nextMax: 4, discountedMin: 5, discountedMax: 6 };
  metrics.progressOf(() => [
    { name: 'a', progress: 7, lastDispatch },
    { name: 'b', progress: 8, lastDispatch: undefined },
  ]);
  assert.deepEqual(linesOf(registry, 'current_r'), [
    'apiserver_flowcontrol_current_r{priority_level="a"} 7',
    'apiserver_flowcontrol_current_r{priority_level="b"} 8',
  ]);
  assert.deepEqual(linesOf(registry, 'dispatch_r'), ['apiserver_flowcontrol_dispatch_r{priority_level="a"} 2']);
  assert.deepEqual(linesOf(registry, 'latest_s'), ['apiserver_flowcontrol_latest_s{priority_level="a"} 1']);
  assert.deepEqual(
    linesOf(registry, 'next_').map((line) => line.split(' ')),
    [
      ['apiserver_flowcontrol_next_discounted_s_bounds{bound="max",priority_level="a"}', '6'],
      ['apiserver_flowcontrol_next_discounted_s_bounds{bound="min",priority_level="a"}', '5'],
      ['apiserver_flowcontrol_next_s_bounds{bound="max",priority_level="a"}', '4'],
      ['apiserver_flowcontrol_next_s_bounds{bound="min",priority_level="a"}', '3'],
    ],
  );
  assert.deepEqual(linesOf(registry, 'epoch_advance_total'), []);
  metrics.level('a').epochAdvanced();
  assert.deepEqual(linesOf(registry, 'epoch_advance_total'), [
    'apiserver_flowcontrol_epoch_advance_total{priority_level="a",success="true"} 1',
  ]);
});

test('requests under way count for as long as they are', () => {
  const registry = new MetricRegistry();
  const metrics = flowControlMetrics(registry);
  metrics.requests('executing', 'mutating', 1, 1000);
  metrics.requests('executing', 'mutating', 0, 1003);
  metrics.requests('executing', 'mutating', 1, 1005);
  const found = linesOf(registry, 'read_vs_write_current_requests').filter(
    (line) => line.includes('phase="executing"') && line.includes('request_kind="mutating"'),
  );
  const valueOf = (part: string): number =>
    Number(
      found
        .find((line) => line.includes(part))
        ?.split(' ')
        .at(-1),
    );
  // Nanoseconds: three milliseconds with one request, two with none.
  assert.equal(valueOf('_count'), 5_000_000);
  assert.equal(valueOf('_sum'), 3_000_000);
  assert.equal(valueOf('le="0"'), 2_000_000);
});
