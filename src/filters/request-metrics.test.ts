import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import { createRequestMetrics } from './request-metrics.js';

test('filters are timed for requests that they pass on', () => {
  const registry = new MetricRegistry();
  const { authenticated, authorized } = createRequestMetrics(registry);
  authenticated('success', { name: 'a', uid: '', groups: [], extra: {} }, 2);
  authenticated('failure', undefined, 2);
  authorized('allowed', 2);
  authorized('denied', 2);
  const text = registry.text();
  for (const filter of ['authentication', 'authorization']) {
    assert.match(text, new RegExp(`^apiserver_request_filter_duration_seconds_count\\{filter="${filter}"\\} 1$`, 'm'));
  }
});
