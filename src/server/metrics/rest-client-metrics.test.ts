import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { restClientMetrics } from './rest-client-metrics.js';

test('calls of all parts are counted together, by the status of the answer', () => {
  const registry = new MetricRegistry();
  restClientMetrics(registry).answered(200, 'POST', 'a:443');
  restClientMetrics(registry).answered(undefined, 'POST', 'a:443');
  restClientMetrics(registry).took('POST', 'a:443', 0.01);
  const text = registry.text();
  assert.match(text, /^rest_client_requests_total\{code="200",host="a:443",method="POST"\} 1$/m);
  assert.match(text, /^rest_client_requests_total\{code="<error>",host="a:443",method="POST"\} 1$/m);
  assert.match(text, /^rest_client_request_duration_seconds_bucket\{host="a:443",verb="POST",le="0.025"\} 1$/m);
});
