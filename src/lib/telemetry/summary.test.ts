import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from './metrics.js';

test('a summary has the median, the extremes, the sum and the count', () => {
  const registry = new MetricRegistry();
  const seconds = registry.summary({ name: 'a_seconds', help: 'Times.', labels: ['x'], stability: 'ALPHA' }).with('y');
  for (let i = 100; i >= 1; i--) seconds.observe(i);
  assert.equal(
    registry.text(),
    `# HELP a_seconds [ALPHA] Times.
# TYPE a_seconds summary
a_seconds{x="y",quantile="0.5"} 50
a_seconds{x="y",quantile="0.9"} 90
a_seconds{x="y",quantile="0.99"} 99
a_seconds_sum{x="y"} 5050
a_seconds_count{x="y"} 100
`,
  );
});

test('of many values the last are looked at', () => {
  const registry = new MetricRegistry();
  const seconds = registry.summary({ name: 'a', help: '', stability: 'ALPHA' }).with();
  assert.match(registry.text(), /^a\{quantile="0\.5"\} NaN$/m);
  for (let i = 0; i < 1000; i++) seconds.observe(i < 500 ? 1000 : 1);
  assert.match(registry.text(), /^a\{quantile="0\.99"\} 1$/m);
  assert.match(registry.text(), /^a_count 1000$/m);
});
