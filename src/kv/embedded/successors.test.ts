import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tables } from './engine.js';
import { encodeLog, encodeNumbers, numberAt } from './records.js';
import { Successors } from './successors.js';

/** A log whose change at `revision` replaced the version of the revision `replaced`; 0 for none. */
class Log {
  readonly #records = new Map<number, Buffer>();
  #newest = 0;
  readonly tables = {
    log: { getRange: ({ start }: { start: Buffer }) => this.#since(numberAt(start, 0)) },
    meta: { get: () => encodeNumbers(this.#newest) },
    unchecked: { current: false, logUntil: 0 },
  };

  add(revision: number, replaced: number): void {
    this.#newest = revision;
    const value = Buffer.from('v');
    const previous =
      replaced === 0
        ? undefined
        : { modRevision: replaced, createRevision: replaced, expiresAtMs: 0, version: 1, lease: 0n, value };
    const change = { type: 'put', atMs: 0, createRevision: revision, previous } as const;
    this.#records.set(revision, encodeLog({ revision, place: 0, isLast: true }, Buffer.from('/a'), change));
  }

  drop(upTo: number): void {
    for (const revision of this.#records.keys()) if (revision <= upTo) this.#records.delete(revision);
  }

  *#since(revision: number): Iterable<{ key: Buffer; value: Buffer }> {
    for (const [at, value] of this.#records) if (at >= revision) yield { key: encodeNumbers(at), value };
  }
}

/** `revisions` changes of `keys` keys, one after the other, from revision 2 on. */
function logOf(revisions: number, keys: number): Log {
  const log = new Log();
  for (let i = 2; i <= revisions + 1; i++) log.add(i, i - keys < 2 ? 0 : i - keys);
  return log;
}

const followerOf = (successors: Successors, revision: number): number => successors.of(revision, '/a')?.revision ?? 0;
const tablesOf = (log: Log): Tables => log.tables as unknown as Tables;

test('a change leads to the next one of its key, and each record is read once', () => {
  const log = logOf(2_500, 10);
  const successors = new Successors(() => 0);
  let pages = 1;
  while (!successors.readPage(tablesOf(log))) pages++;
  assert.deepEqual(
    [followerOf(successors, 2), followerOf(successors, 2_491), followerOf(successors, 2_492)],
    [12, 2_501, 0],
  );
  assert.deepEqual([pages, successors.recordsRead], [3, 2_500]);
  log.add(2_502, 2_492);
  assert.ok(successors.readPage(tablesOf(log)));
  assert.deepEqual([followerOf(successors, 2_492), successors.recordsRead], [2_502, 2_501]);
});

test('what was compacted is forgotten, and the rest still leads on', () => {
  const log = logOf(4_000, 10);
  let compacted = 0;
  const successors = new Successors(() => compacted);
  while (!successors.readPage(tablesOf(log)));
  compacted = 3_501;
  log.drop(compacted);
  assert.ok(successors.readPage(tablesOf(log)));
  assert.deepEqual(
    [followerOf(successors, 3_502), followerOf(successors, 3_991), followerOf(successors, 3_992)],
    [3_512, 4_001, 0],
  );
  assert.equal(successors.recordsRead, 4_000);
});

test('after a long time in which nobody resumed, only what is left of the log is read', () => {
  const log = logOf(5_000, 10);
  log.drop(4_901);
  const successors = new Successors(() => 4_901);
  assert.ok(successors.readPage(tablesOf(log)));
  assert.deepEqual([followerOf(successors, 4_902), successors.recordsRead], [4_912, 100]);
});
