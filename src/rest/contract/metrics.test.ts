import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { createRestMetrics } from './metrics.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const kinds = [configMaps] as readonly KindDefinition[];

test('bodies are counted by verb, events by resource, and a streaming list by its end', async () => {
  const registry = new MetricRegistry();
  const api = new TestApi({ kinds, services: { metrics: createRestMetrics(registry) } });
  const valueOf = (series: string): string | undefined =>
    registry
      .text()
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1];
  await api.post(MAPS, { metadata: { name: 'a' } });
  await api.patch(`${MAPS}/a`, 'application/merge-patch+json', { data: { large: 'x'.repeat(60_000) } });
  const bodies = (verb: string): string => `group="",resource="configmaps",verb="${verb}"`;
  assert.equal(valueOf(`apiserver_request_body_size_bytes_bucket{${bodies('create')},le="50000"}`), '1');
  assert.equal(valueOf(`apiserver_request_body_size_bytes_bucket{${bodies('patch')},le="50000"}`), '0');
  assert.equal(valueOf(`apiserver_request_body_size_bytes_bucket{${bodies('patch')},le="150000"}`), '1');

  const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const watch = await api.watch(`${MAPS}?${query}`);
  await watch.next();
  await watch.next();
  const which = 'group="",resource="configmaps"';
  assert.equal(valueOf(`apiserver_watch_events_total{${which},version="v1"}`), '2');
  assert.ok(Number(valueOf(`apiserver_watch_events_sizes_sum{${which},version="v1"}`)) > 60_000);
  assert.equal(valueOf(`apiserver_watch_list_duration_seconds_count{${which},scope="namespace",version="v1"}`), '1');
  await api.delete(`${MAPS}/a`);
  await watch.next();
  assert.equal(valueOf(`apiserver_watch_events_total{${which},version="v1"}`), '3');
  watch.stop();
  await api.delete(MAPS);
  assert.equal(valueOf(`apiserver_request_body_size_bytes_count{${bodies('delete')}}`), '1');
  assert.equal(valueOf(`apiserver_request_body_size_bytes_count{${bodies('delete_collection')}}`), '1');
});
