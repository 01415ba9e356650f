import assert from 'node:assert/strict';
import test from 'node:test';
import type { ResponseSink } from '../../lib/http/http.js';
import type { WatchEvent } from '../../storage/store.js';
import { OrderedOutput } from './ordered-output.js';
import { WatchBuffers } from '../wire/watch-buffers.js';

function opened(): { ordered: OrderedOutput; written: string[]; over: () => boolean } {
  const written: string[] = [];
  let over = false;
  const sink = {
    write: (chunk: Buffer) => written.push(chunk.toString()) > 0,
    drained: () => Promise.resolve(),
    pendingBytes: 0,
    signal: new AbortController().signal,
  } as ResponseSink;
  const paced = new WatchBuffers().open(sink, () => (over = true));
  return { ordered: new OrderedOutput(paced), written, over: () => over };
}

const of = (size: number): readonly WatchEvent[] => [{ type: 'ADDED', object: { size } as never }];

test('what is made at once is written at once', () => {
  const { ordered, written } = opened();
  ordered.write(() => Buffer.from('a'));
  assert.deepEqual(written, ['a']);
});

test('what is made later is written before what happened after it', async () => {
  const { ordered, written } = opened();
  let made = (_: Buffer): void => undefined;
  ordered.write(() => new Promise((resolve) => (made = resolve)));
  ordered.write(() => Buffer.from('b'));
  ordered.write(async () => Buffer.from('c'));
  assert.deepEqual(written, []);
  made(Buffer.from('a'));
  await ordered.drained();
  assert.deepEqual(written, ['a', 'b', 'c']);
  ordered.write(() => Buffer.from('d'));
  assert.deepEqual(written, ['a', 'b', 'c', 'd']);
});

test('a watch ends when an event cannot be made, or too much waits to be', async () => {
  const failed = opened();
  failed.ordered.write(() => Promise.reject(new Error('not to be made')));
  await failed.ordered.drained();
  assert.equal(failed.over(), true);
  const behind = opened();
  const never = (): Promise<Buffer> => new Promise(() => undefined);
  behind.ordered.write(never, of(40_000_000));
  assert.equal(behind.over(), false);
  behind.ordered.write(never, of(1));
  assert.equal(behind.over(), true);
});
