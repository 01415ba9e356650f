import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { answer, testExchange } from '../filters/testing.js';
import { silentLogs } from '../lib/log.js';
import { versionInfo } from '../machinery/version-info.js';
import type { MetricFlags } from './metric-options.js';
import { createServerMetrics } from './server-metrics.js';

const flags: MetricFlags = {
  allowMetricLabels: {},
  allowMetricLabelsManifest: '',
  disabledMetrics: [],
  showHiddenMetricsForVersion: '',
};
const create = (over: Partial<MetricFlags> = {}) =>
  createServerMetrics({
    flags: { ...flags, ...over },
    version: versionInfo(),
    isServed: ({ resource }) => resource === 'pods',
    log: silentLogs.for('x'),
  });

test('requests for resources there are become series, made-up ones do not', async () => {
  const metrics = create();
  for (const target of ['/api/v1/namespaces/x/pods', '/api/v1/namespaces/x/nonsense', '/healthz', '/made/up']) {
    const exchange = testExchange('GET', target);
    exchange.finish(await metrics.requests.filter(exchange, () => answer()));
  }
  const lines = metrics.registry
    .text()
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total'));
  const labels = (resource: string, scope: string, subresource: string, verb: string, version: string): string =>
    `apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="${resource}",scope="${scope}",subresource="${subresource}",verb="${verb}",version="${version}"} 1`;
  assert.deepEqual(lines, [
    labels('', '', '', 'GET', ''),
    labels('', '', '/healthz', 'GET', ''),
    labels('pods', 'namespace', '', 'LIST', 'v1'),
  ]);
  assert.doesNotMatch(metrics.registry.text(), /slo_duration/);
});

test('the flags hide, show and limit', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-metrics-'));
  const manifest = path.join(folder, 'allow.yaml');
  fs.writeFileSync(manifest, '"apiserver_request_total,code": "200"\n"apiserver_request_total,verb": "GET"\n');
  const metrics = create({
    allowMetricLabelsManifest: manifest,
    allowMetricLabels: { 'apiserver_request_total,verb': 'LIST' },
    disabledMetrics: ['process_open_fds'],
    showHiddenMetricsForVersion: '1.33',
  });
  fs.rmSync(folder, { recursive: true });
  const exchange = testExchange('GET', '/api/v1/pods');
  exchange.finish(await metrics.requests.filter(exchange, () => ({ ...answer(), status: 418 })));
  const text = metrics.registry.text();
  assert.match(text, /apiserver_request_total\{code="unexpected",.*verb="LIST"/);
  assert.match(text, /apiserver_request_slo_duration_seconds_count/);
  assert.doesNotMatch(text, /process_open_fds/);
  assert.match(text, /^disabled_metrics_total 1$/m);
});

test('health has its own page', () => {
  const metrics = create();
  metrics.observeHealth('etcd', 'readyz', false);
  assert.match(metrics.sliRegistry.text(), /^kubernetes_healthcheck\{name="etcd",type="readyz"\} 0$/m);
  assert.match(
    metrics.sliRegistry.text(),
    /^kubernetes_healthchecks_total\{name="etcd",status="error",type="readyz"\} 1$/m,
  );
});
