import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exponentialBuckets, MetricRegistry } from './metrics.js';

test('counters, gauges and histograms are encoded as Prometheus reads them', () => {
  const registry = new MetricRegistry();
  const requests = registry.counter({
    name: 'b_total',
    help: 'Counts.',
    labels: ['verb', 'code'],
    stability: 'STABLE',
  });
  requests.with('GET', '200').inc();
  requests.with('GET', '200').inc(2);
  requests.with('PUT', 'a"b\n').inc();
  registry.gauge({ name: 'c', help: 'Now.', stability: 'ALPHA' }).with().set(1_500_000);
  const seconds = registry.histogram({
    name: 'a_seconds',
    help: 'Times.',
    labels: ['x'],
    buckets: [0.1, 1],
    stability: 'BETA',
  });
  for (const value of [0.05, 0.1, 0.5, 3]) seconds.with('y').observe(value);
  assert.equal(
    registry.text(),
    `# HELP a_seconds [BETA] Times.
# TYPE a_seconds histogram
a_seconds_bucket{x="y",le="0.1"} 2
a_seconds_bucket{x="y",le="1"} 3
a_seconds_bucket{x="y",le="+Inf"} 4
a_seconds_sum{x="y"} 3.65
a_seconds_count{x="y"} 4
# HELP b_total [STABLE] Counts.
# TYPE b_total counter
b_total{code="200",verb="GET"} 3
b_total{code="a\\"b\\n",verb="PUT"} 1
# HELP c [ALPHA] Now.
# TYPE c gauge
c 1.5e+06
`,
  );
});

test('disabled and long-deprecated metrics are not shown, unless hidden ones are requested', () => {
  const show = (options: ConstructorParameters<typeof MetricRegistry>[0]): string[] => {
    const registry = new MetricRegistry({ version: '1.34', ...options });
    registry.counter({ name: 'plain', help: '', stability: 'ALPHA' });
    registry.counter({ name: 'old', help: '', stability: 'ALPHA', deprecatedVersion: '1.33' });
    registry.counter({ name: 'aging', help: '', stability: 'ALPHA', deprecatedVersion: '1.34' });
    return [...registry.text().matchAll(/^(\w+) 0$/gm)].map((match) => match[1] ?? '');
  };
  assert.deepEqual(show({}), ['aging', 'plain']);
  assert.deepEqual(show({ showHidden: true }), ['aging', 'old', 'plain']);
  assert.deepEqual(show({ disabledMetrics: ['plain'], showHidden: true }), ['aging', 'old']);
});

test('label values that are not allowed are counted together', () => {
  const registry = new MetricRegistry({ allowedLabels: new Map([['m,code', new Set(['200'])]]) });
  const counter = registry.counter({ name: 'm', help: '', labels: ['verb', 'code'], stability: 'ALPHA' });
  for (const code of ['200', '404', '500']) counter.with('GET', code).inc();
  assert.match(registry.text(), /m\{code="200",verb="GET"\} 1\nm\{code="unexpected",verb="GET"\} 2\n/);
  assert.equal(registry.counts().unexpectedLabels, 2);
});

test('a name is registered once', () => {
  const registry = new MetricRegistry();
  registry.counter({ name: 'm', help: '', stability: 'ALPHA' });
  assert.throws(() => registry.gauge({ name: 'm', help: '', stability: 'ALPHA' }), /registered twice/);
  assert.deepEqual(exponentialBuckets(1, 2, 3), [1, 2, 4]);
  assert.equal(exponentialBuckets(1e-8, 10, 4)[3], 9.999999999999999e-6);
});
