// runs-on: every-node
// The embedded store against the memory store: the same random changes, and every past state and event compared.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import fc from 'fast-check';
import { type KeyValueStore, type KvEvent, prefixEnd } from '../kv.js';
import { openMemoryStore } from '../memory.js';
import { openEmbeddedStore } from './embedded.js';

const keys = ['/a/1', '/a/2', '/a/2/x', '/a/3', '/b/1', '/ä'];
const change = fc.record({
  key: fc.constantFrom(...keys),
  remove: fc.boolean(),
  /** Sometimes the wrong revision. */
  offset: fc.constantFrom(0, 0, 0, 1),
  value: fc.string(),
});

it('embedded and memory store agree on every past state', async () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-model-'));
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), fc.nat(40), async (changes, drop) => {
        const embedded = await openEmbeddedStore({ folder: path.join(root, String(++run)) });
        const memory = openMemoryStore();
        for (const { key, remove, offset, value } of changes) {
          const results = [];
          for (const kv of [embedded, memory]) {
            const expected = ((await kv.get(key))?.modRevision ?? 0) + offset;
            const bytes = Buffer.from(value);
            if (remove && expected > 0) results.push(await kv.delete(key, expected));
            else results.push(await (expected === 0 ? kv.create(key, bytes) : kv.update(key, expected, bytes)));
          }
          assert.deepEqual(results[0], results[1]);
        }
        const newest = await memory.revision();
        const oldest = Math.min(newest, Math.max(1, drop));
        for (const kv of [embedded, memory]) await kv.compact(oldest);
        for (let revision = oldest; revision <= newest; revision++) {
          for (const [start, limit] of [
            ['/a/', 0],
            ['/a/2', 2],
            ['/', 0],
          ] as const) {
            const request = { start, end: prefixEnd('/'), revision, limit };
            assert.deepEqual(await embedded.range(request), await memory.range(request));
          }
          if (revision < newest) assert.deepEqual(eventsFrom(embedded, revision + 1), eventsFrom(memory, revision + 1));
          const between = {
            prefix: '/a/',
            startRevision: revision + 1,
            endRevision: newest - 1,
            maxBytes: drop,
          };
          if (revision + 1 < newest) {
            assert.deepEqual(await embedded.changes?.(between), await memory.changes?.(between));
          }
        }
        await embedded.close();
        await memory.close();
      }),
      { numRuns: 25 },
    );
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
});

function eventsFrom(kv: KeyValueStore, startRevision: number): KvEvent[] {
  const events: KvEvent[] = [];
  const watch = kv.watch(
    { prefix: '/', startRevision, previous: true },
    { events: (batch) => void events.push(...batch), progress: () => undefined, failed: (error) => assert.fail(error) },
  );
  watch.cancel();
  return events;
}
