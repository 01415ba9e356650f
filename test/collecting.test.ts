// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processParts } from '../src/server/lifecycle/idle-gc.js';

/** When V8 switches to another marking mode after it began, the process crashes within so many collections. */
const COLLECTIONS = 600;
const SLICES_OF_COLLECTION = 4;
const KEPT = 20_000;

test('a server under load while its heap is collected in slices lives on', async () => {
  const { collect } = processParts();
  const kept = new Map<number, Tree>();
  for (let i = 0; i < KEPT; i++) kept.set(i, podLike(i));
  let writes = 0;
  for (let slice = 0; slice < COLLECTIONS * SLICES_OF_COLLECTION; slice++) {
    if (slice % SLICES_OF_COLLECTION === 0) collect('gradually');
    const sliceEnd = performance.now() + 3;
    while (performance.now() < sliceEnd) {
      const at = (writes * 7919) % KEPT;
      kept.set(at, changed(kept.get(at) ?? podLike(at), writes));
      const gone = (writes * 31) % KEPT;
      if (writes++ % 5 === 0 && kept.delete(gone)) kept.set(gone, podLike(writes));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(kept.size, KEPT);
});

type Tree = Record<string, unknown>;

/** Members in many orders, so that there are many shapes. */
function podLike(i: number): Tree {
  const containers = [0, 1, 2].map((c) => {
    const container: Tree = { name: `c${c}` };
    container[`x${i % 50}`] = c;
    if (i % 3 > 0) container['env'] = [{ name: 'E', value: String(i) }];
    return container;
  });
  return { metadata: { name: `p${i}`, labels: { app: `a${i % 7}` } }, spec: { containers } };
}

/** Read anew, with other members than before: what is marked changes its shape and its length. */
function changed(pod: Tree, i: number): Tree {
  const copy = JSON.parse(JSON.stringify(pod)) as Tree & { spec: { containers: unknown[] } };
  copy[`m${i % 300}`] = i;
  delete copy[`m${(i + 1) % 300}`];
  const { containers } = copy.spec;
  containers.shift();
  containers.push({ name: `z${i}` });
  containers.length = Math.max(1, containers.length - 1);
  return copy;
}
