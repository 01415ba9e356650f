import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { answer, testExchange } from '../../filters/testing.js';
import type { Exchange } from '../../filters/exchange.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { chooseFeatureGates } from '../../machinery/feature-gates.js';
import { versionInfo } from '../../machinery/version-info.js';
import type { MetricFlags } from './metric-options.js';
import { createServerMetrics, type ServerMetrics } from './server-metrics.js';

const flags: MetricFlags = {
  allowMetricLabels: {},
  allowMetricLabelsManifest: '',
  disabledMetrics: [],
  showHiddenMetricsForVersion: '',
};
const emulatedVersion = { major: 1, minor: 33 };
const release = {
  gitVersion: 'v1.34.11',
  emulatedVersion,
  minCompatibleVersion: { major: 1, minor: 32 },
  featureGates: chooseFeatureGates(new Map([['WatchList', false]]), emulatedVersion).gates,
};
const create = (over: Partial<MetricFlags> = {}) =>
  createServerMetrics({
    flags: { ...flags, ...over },
    version: versionInfo(),
    release,
    isServed: ({ resource }) => resource === 'pods',
    log: silentLog,
  });

async function answered(metrics: ServerMetrics, exchange: Exchange, response: HttpResponse = answer()): Promise<void> {
  exchange.finish(await metrics.requests.filter(exchange, () => response));
}

const linesOf = (metrics: ServerMetrics, name: string): string[] =>
  metrics.registry
    .text()
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`));

interface SeriesLabels {
  readonly resource: string;
  readonly scope: string;
  readonly subresource?: string;
  readonly verb: string;
  readonly component?: string;
}

const labels = ({ resource, scope, subresource = '', verb, component = 'apiserver' }: SeriesLabels): string =>
  `code="200",component="${component}",dry_run="",group="",resource="${resource}",scope="${scope}",subresource="${subresource}",verb="${verb}",version="${resource === '' ? '' : 'v1'}"`;

test('requests for resources there are become series, made-up ones and those refused on their way do not', async () => {
  const metrics = create();
  for (const target of ['/api/v1/namespaces/x/pods', '/api/v1/namespaces/x/nonsense', '/api/v1/pods']) {
    const exchange = testExchange('GET', target);
    if (target !== '/api/v1/pods') exchange.servedBy = 'resource';
    await answered(metrics, exchange);
  }
  for (const target of ['/healthz', '/made/up', '/metrics', '/apis']) {
    const exchange = testExchange('GET', target);
    exchange.servedBy = 'path';
    await answered(metrics, exchange);
  }
  assert.deepEqual(linesOf(metrics, 'apiserver_request_total'), [
    `apiserver_request_total{${labels({ resource: '', scope: '', subresource: '/healthz', verb: 'GET', component: '' })}} 1`,
    `apiserver_request_total{${labels({ resource: 'pods', scope: 'namespace', verb: 'LIST' })}} 1`,
  ]);
  assert.doesNotMatch(metrics.registry.text(), /slo_duration/);
});

test('the verb is what a request does: lists, watches, connections and applies have their own', async () => {
  const metrics = create();
  const pod = '/api/v1/namespaces/x/pods/y';
  const sent: [method: string, target: string, headers?: Record<string, string>][] = [
    ['HEAD', '/api/v1/namespaces/x/pods'],
    ['GET', '/api/v1/pods?watch=1'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Dy'],
    ['GET', `${pod}/log`],
    ['DELETE', `${pod}/proxy/z`],
    ['PATCH', pod, { 'content-type': 'application/apply-patch+yaml' }],
    ['PATCH', pod, { 'content-type': 'application/merge-patch+json' }],
    ['POST', '/api/v1/namespaces/x/pods'],
  ];
  for (const [method, target, headers = {}] of sent) {
    const exchange = testExchange(method, target, { headers });
    exchange.servedBy = 'resource';
    await answered(metrics, exchange);
  }
  const seen = linesOf(metrics, 'apiserver_request_total').map((line) =>
    ['scope', 'subresource', 'verb'].map((label) => new RegExp(`${label}="(.*?)"`).exec(line)?.[1]).join(' '),
  );
  assert.deepEqual(seen.toSorted(), [
    'cluster  LIST',
    'cluster  WATCH',
    'namespace  LIST',
    'resource  APPLY',
    'resource  PATCH',
    'resource  POST',
    'resource log CONNECT',
    'resource proxy CONNECT',
  ]);
});

test('a request that was turned away for lack of seats is counted though nothing served it', () => {
  const metrics = create();
  metrics.requests.dropped(testExchange('GET', '/api/v1/pods'));
  assert.deepEqual(linesOf(metrics, 'apiserver_request_total'), [
    `apiserver_request_total{${labels({ resource: 'pods', scope: 'cluster', verb: 'LIST' }).replace('200', '429')}} 1`,
  ]);
  assert.equal(linesOf(metrics, 'apiserver_request_terminations_total').length, 1);
  assert.equal(linesOf(metrics, 'apiserver_request_duration_seconds_count').length, 0);
});

test("an extension's server that cannot be reached counts as the aggregator's failure", () => {
  const metrics = create();
  metrics.requests.proxyFailed(testExchange('GET', '/apis/wares.example/v1/crates/a'), 503);
  assert.deepEqual(linesOf(metrics, 'apiserver_request_terminations_total'), [
    'apiserver_request_terminations_total{code="503",component="aggregator",group="wares.example",resource="crates",scope="resource",subresource="",verb="GET",version="v1"} 1',
  ]);
});

test("the server's own requests and the requested field validation are counted", async () => {
  const metrics = create();
  const exchange = testExchange('POST', '/api/v1/namespaces/x/pods?fieldValidation=Strict');
  exchange.servedBy = 'resource';
  exchange.user = { name: 'system:apiserver', groups: [] } as unknown as NonNullable<Exchange['user']>;
  await answered(metrics, exchange);
  assert.deepEqual(linesOf(metrics, 'apiserver_selfrequest_total'), [
    'apiserver_selfrequest_total{group="",resource="pods",subresource="",verb="POST"} 1',
  ]);
  assert.deepEqual(linesOf(metrics, 'field_validation_request_duration_seconds_count'), [
    'field_validation_request_duration_seconds_count{field_validation="Strict"} 0',
  ]);
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
  exchange.servedBy = 'resource';
  await answered(metrics, exchange, { ...answer(), status: 418 });
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

test('the release and its features are reported as the emulated version has them', () => {
  const text = create().registry.text();
  assert.match(text, /^version_info\{binary="1\.34\.11",component="kube",emulation="1\.33",min_compat="1\.32"\} 1$/m);
  assert.match(text, /^kubernetes_feature_enabled\{name="AllAlpha",stage="ALPHA"\} 0$/m);
  assert.match(text, /^kubernetes_feature_enabled\{name="WatchList",stage="BETA"\} 0$/m);
  assert.match(text, /^kubernetes_feature_enabled\{name="ServiceAccountTokenJTI",stage=""\} 1$/m);
  assert.doesNotMatch(text, /name="EnvFiles"/, 'a gate that came after the emulated version');
});

test('the limits of the process are reported beside its usage', () => {
  const text = create().registry.text();
  const valueOf = (name: string): number => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  assert.ok(valueOf('process_max_fds') >= valueOf('process_open_fds'));
  assert.ok(valueOf('process_virtual_memory_bytes') >= valueOf('process_resident_memory_bytes'));
  assert.ok(valueOf('process_virtual_memory_max_bytes') > 0);
});
