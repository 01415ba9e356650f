// runs-on: every-node
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { peekStream } from './peek-stream.js';

const LONG_MS = 60_000;
const rest = async (source: Readable): Promise<string> => Buffer.concat(await source.toArray()).toString();

test('a source that gives all it has is used up', async () => {
  const source = Readable.from([Buffer.from('ab'), Buffer.from('cd')]);
  assert.deepEqual(await peekStream(source, 100, LONG_MS), { bytes: Buffer.from('abcd'), isWhole: true });
  const empty = new PassThrough();
  empty.end();
  assert.deepEqual(await peekStream(empty, 100, LONG_MS), { bytes: Buffer.alloc(0), isWhole: true });
});

test('what was enough, or all that came in time, can be read again', async () => {
  const one = new PassThrough();
  one.end('abcd');
  assert.deepEqual(await peekStream(one, 1, LONG_MS), { bytes: Buffer.from('abcd'), isWhole: false });
  assert.equal(await rest(one), 'abcd');
  const slow = new PassThrough();
  slow.write('ab');
  assert.deepEqual(await peekStream(slow, 100, 1), { bytes: Buffer.from('ab'), isWhole: false });
  slow.end('cd');
  assert.equal(await rest(slow), 'abcd');
});

test('a source that breaks off rejects', async () => {
  const source = new PassThrough();
  const begun = peekStream(source, 100, LONG_MS);
  source.destroy(new Error('gone'));
  await assert.rejects(begun, /gone/);
});
