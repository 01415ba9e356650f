// runs-on: every-node
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import { latestWhenDrained } from './latest-when-drained.js';

it('of what comes while nobody reads the newest is handed on, once somebody does', async () => {
  const stream = new PassThrough({ highWaterMark: 4 });
  const send = latestWhenDrained(stream, (text: string) => void stream.write(text));
  for (const text of ['full', 'two', 'three', 'four']) send(text);
  assert.equal(String(stream.read()), 'full');
  await new Promise((resolve) => stream.once('readable', resolve));
  assert.equal(String(stream.read()), 'four');
  send('five');
  assert.equal(String(stream.read()), 'five');
});

it('a stream that ended is sent nothing more', async () => {
  const stream = new PassThrough({ highWaterMark: 4 });
  const sent: string[] = [];
  const send = latestWhenDrained(stream, (text: string) => void sent.push(text));
  stream.write('full');
  send('two');
  stream.destroy();
  await new Promise((resolve) => stream.once('close', resolve));
  assert.deepEqual(sent, []);
});
