// runs-on: every-node
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { open } from 'lmdb';
import { engineTables, openEngine, type Tables } from './engine.js';
import { newestMeta } from './meta-page.js';
import {
  commitInSlices,
  MAX_SLICE_BYTES,
  MAX_SLICE_WRITES,
  PartialCommit,
  type SlicedCommit,
  SlicedWrites,
} from './sliced-commit.js';
import { TableWrites } from './table-writes.js';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-sliced-'));
after(() => fs.rmSync(root, { recursive: true, force: true }));

function engine(name: string): { readonly file: string; readonly tables: Tables } {
  const file = path.join(root, name);
  return { file, tables: engineTables(openEngine(open, file), { path: root, isCompressed: false }) };
}

const handles = (file: string, tables: Tables): SlicedCommit => ({
  env: tables.env,
  lockHolder: openEngine(open, file),
  writes: new TableWrites(tables),
});

const keyOf = (index: number): Buffer => Buffer.from(`/k/${String(index).padStart(6, '0')}`);

function manyPuts(count: number): SlicedWrites {
  const sliced = new SlicedWrites();
  for (let index = 0; index < count; index++) sliced.put('current', keyOf(index), Buffer.alloc(300, 'v'));
  return sliced;
}

function transactions(file: string): number {
  const fd = fs.openSync(file, 'r');
  try {
    return Number(newestMeta(fd)?.transaction);
  } finally {
    fs.closeSync(fd);
  }
}

test('a slice has so many writes and so many bytes at the most, and all are in their order', () => {
  const sliced = new SlicedWrites();
  for (let index = 0; index < 1_000; index++) sliced.remove('current', keyOf(index));
  for (let index = 0; index < 10; index++) sliced.put('log', keyOf(index), Buffer.alloc(MAX_SLICE_BYTES / 3));
  sliced.put('log', keyOf(10), Buffer.alloc(2 * MAX_SLICE_BYTES));
  for (const slice of sliced.slices) {
    const bytes = slice.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
    assert.ok(slice.length <= MAX_SLICE_WRITES && (bytes <= MAX_SLICE_BYTES || slice.length === 1));
  }
  assert.deepEqual(
    sliced.slices.flat().map(({ key }) => key),
    Array.from({ length: 1_011 }, (_, index) => keyOf(index % 1_000)),
  );
});

test('slices are one commit, and between them others read the state before it', async () => {
  const { file, tables } = engine('one');
  const { env, current } = tables;
  await env.batch(() => void current.put(Buffer.from('/before'), Buffer.from('b')));
  const before = transactions(file);
  const { slices } = manyPuts(100 * MAX_SLICE_WRITES);
  const seen = new Map<number, number>();
  let isOver = false;
  const look = (): void => {
    if (isOver) return;
    env.resetReadTxn();
    const count = current.getKeysCount({});
    seen.set(count, (seen.get(count) ?? 0) + 1);
    setImmediate(look);
  };
  setImmediate(look);
  await commitInSlices(handles(file, tables), slices);
  isOver = true;
  assert.ok((seen.get(1) ?? 0) > 2, `${seen.get(1)} looks`);
  seen.delete(1);
  assert.deepEqual(
    [...seen.keys()].filter((count) => count !== 100 * MAX_SLICE_WRITES + 1),
    [],
  );
  assert.equal(transactions(file) - before, 1);
  env.resetReadTxn();
  assert.equal(current.getKeysCount({}), 100 * MAX_SLICE_WRITES + 1);
  await env.close();
});

test('nothing is written where the engine refuses one of the writes', async () => {
  const { file, tables } = engine('refused');
  const { slices } = manyPuts(3 * MAX_SLICE_WRITES);
  const closed = tables.env.openDB<Buffer, Buffer>('gone', { encoding: 'binary', keyEncoding: 'binary' });
  closed.dropSync();
  const withoutOne: Tables = { ...tables, leased: closed };
  slices[1]?.unshift({ table: 'leased', key: keyOf(1), value: Buffer.alloc(1) });
  const commit = { ...handles(file, tables), writes: new TableWrites(withoutOne) };
  const error: unknown = await commitInSlices(commit, slices).catch((reason: unknown) => reason);
  assert.ok(error instanceof Error && !(error instanceof PartialCommit) && 'commitError' in error, String(error));
  await assert.rejects(error.commitError as Promise<void>, { code: 22 });
  tables.env.resetReadTxn();
  assert.equal(tables.current.getKeysCount({}), 0);
  await tables.env.close();
});

test('a commit that is not whole because something threw says so', async () => {
  const { file, tables } = engine('partial');
  const { slices } = manyPuts(3 * MAX_SLICE_WRITES);
  slices[1]?.unshift({ table: 'current', key: Buffer.alloc(5_000), value: Buffer.alloc(1) });
  await assert.rejects(commitInSlices(handles(file, tables), slices), PartialCommit);
  tables.env.resetReadTxn();
  assert.equal(tables.current.getKeysCount({}), MAX_SLICE_WRITES);
  await tables.env.close();
});
