import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import { MergedMetrics } from './merge-metrics.js';

function registry(requests: number, latency: number): MetricRegistry {
  const metrics = new MetricRegistry();
  metrics
    .counter({ name: 'requests_total', help: 'Of all.', labels: ['verb'], stability: 'ALPHA' })
    .with('GET')
    .inc(requests);
  metrics.gauge({ name: 'running', help: 'Now.', stability: 'ALPHA' }).with().set(requests);
  metrics.gauge({ name: 'objects', help: 'Stored.', stability: 'ALPHA', across: 'max' }).with().set(requests);
  metrics.gauge({ name: 'started', help: 'When.', stability: 'ALPHA', across: 'min' }).with().set(requests);
  metrics
    .histogram({ name: 'seconds', help: 'How long.', stability: 'ALPHA', buckets: [1, 2] })
    .with()
    .observe(latency);
  metrics.summary({ name: 'quick', help: 'How quick.', stability: 'ALPHA' }).with().observe(latency);
  return metrics;
}

test('what processes report is added up, or the largest or smallest of it is shown', () => {
  const merged = new MergedMetrics();
  const text = merged.text([
    { index: 0, metrics: registry(3, 0.5).collect() },
    { index: 1, metrics: registry(2_000_000, 1.5).collect() },
  ]);
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  assert.deepEqual(lines, [
    'objects 2e+06',
    'quick{quantile="0.5"} 1.5',
    'quick{quantile="0.9"} 1.5',
    'quick{quantile="0.99"} 1.5',
    'quick_sum 2',
    'quick_count 2',
    'requests_total{verb="GET"} 2.000003e+06',
    'running 2.000003e+06',
    'seconds_bucket{le="1"} 1',
    'seconds_bucket{le="2"} 2',
    'seconds_bucket{le="+Inf"} 2',
    'seconds_sum 2',
    'seconds_count 2',
    'started 3',
    '',
  ]);
  assert.match(text, /^# HELP objects \[ALPHA\] Stored\.\n# TYPE objects gauge\n/);
});

test('one process alone is shown as it shows itself', () => {
  const one = registry(7, 1);
  assert.equal(new MergedMetrics().text([{ index: 0, metrics: one.collect() }]), one.text());
});

test('of a process that does not answer in time what it reported last is shown', () => {
  const merged = new MergedMetrics();
  const both = [0, 1].map((index) => ({ index, metrics: registry(5, 1).collect() }));
  merged.text(both);
  const text = merged.text([{ index: 0, metrics: registry(6, 1).collect() }]);
  assert.match(text, /^requests_total\{verb="GET"\} 11$/m);
});

test('counters do not fall when a process is replaced, gauges do', () => {
  const merged = new MergedMetrics();
  const both = [0, 1].map((index) => ({ index, metrics: registry(5, 1).collect() }));
  merged.text(both);
  merged.ended(1);
  const text = merged.text([...both.slice(0, 1), { index: 1, metrics: registry(1, 1).collect() }]);
  assert.match(text, /^requests_total\{verb="GET"\} 11$/m);
  assert.match(text, /^seconds_count 3$/m);
  assert.match(text, /^running 6$/m);
});
