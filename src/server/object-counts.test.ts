import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../lib/metrics.js';
import { objectCountHook } from './object-counts.js';

test('objects are counted at once and then again, and a resource that went is told no more', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const metrics = new MetricRegistry();
  const counted = (resource: string, count: () => Promise<number>) => ({
    resource: { group: 'g', resource },
    store: { count },
  });
  const lost = (): Promise<number> => Promise.reject(new Error('no connection'));
  let stored = [counted('as', async () => 3), counted('bs', lost)];
  const hook = objectCountHook({ metrics, stored: () => stored, everyMs: 1000, log: assert.fail });
  const ending = new AbortController();
  await hook.run(ending.signal);
  await settled();
  const lines = (): string[] =>
    metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith('apiserver_storage_objects{'));
  assert.deepEqual(lines(), [
    'apiserver_storage_objects{resource="as.g"} 3',
    'apiserver_storage_objects{resource="bs.g"} -1',
  ]);
  stored = [counted('bs', async () => 1)];
  t.mock.timers.tick(1000);
  await settled();
  assert.deepEqual(lines(), ['apiserver_storage_objects{resource="bs.g"} 1']);
  ending.abort();
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
