import { logTo } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { objectCountHook } from './object-counts.js';

test('objects are counted at once and then again, and a resource that went is reported no more', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const metrics = new MetricRegistry();
  const counted = (resource: string, count: () => Promise<number>, bytes?: number) => ({
    resource: { group: 'g', resource },
    store: { count, ...(bytes !== undefined && { local: { amount: { objects: 3, bytes } } }) },
  });
  const lost = (): Promise<number> => Promise.reject(new Error('no connection'));
  let stored = [counted('as', async () => 3, 4096), counted('bs', lost)];
  const hook = objectCountHook({ metrics, stored: () => stored, sizes: true, everyMs: 1000, log: logTo(assert.fail) });
  const ending = new AbortController();
  await hook.run(ending.signal);
  await settled();
  const linesOf = (name: string): string[] =>
    metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`));
  const lines = (): string[] => linesOf('apiserver_storage_objects');
  const size = 'apiserver_resource_size_estimate_bytes';
  assert.deepEqual(lines(), [
    'apiserver_storage_objects{resource="as.g"} 3',
    'apiserver_storage_objects{resource="bs.g"} -1',
  ]);
  assert.deepEqual(linesOf(size), [`${size}{group="g",resource="as"} 4096`, `${size}{group="g",resource="bs"} -1`]);
  stored = [counted('bs', async () => 1)];
  t.mock.timers.tick(1000);
  await settled();
  assert.deepEqual(lines(), ['apiserver_storage_objects{resource="bs.g"} 1']);
  ending.abort();
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
