import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { loadedAll, type StoredObject } from './store.js';

const named = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });

test('objects are loaded in their order, the large ones cooperatively', async () => {
  const atOnce = { object: () => named('a') } as StoredObject;
  const cooperative = {
    load: () => Promise.resolve(named('b')),
    object: () => assert.fail('parsed in one step'),
  } as unknown as StoredObject;
  const objects = await loadedAll([atOnce, cooperative, atOnce]);
  assert.deepEqual(
    objects.map(({ metadata }) => metadata.name),
    ['a', 'b', 'a'],
  );
});

test('parsing many small objects yields to the event loop', async () => {
  const busy = {
    object: () => {
      for (const end = performance.now() + 1; performance.now() < end;);
      return named('a');
    },
  } as StoredObject;
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  await loadedAll(Array.from({ length: 100 }, () => busy));
  clearImmediate(next);
  assert.ok(turns >= 5, `${turns}`);
});
