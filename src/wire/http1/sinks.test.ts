// runs-on: every-node
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { ChunkSink, PlainSink } from './sinks.js';

function output(): { readonly writes: string[]; readonly stream: Writable } {
  const writes: string[] = [];
  const stream = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      writes.push(bytes.toString());
      done();
    },
    writev: (chunks, done) => {
      writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)).toString());
      done();
    },
  });
  return { writes, stream };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('pieces of one event-loop turn share one write', async () => {
  const chunked = output();
  const plain = output();
  const { signal } = new AbortController();
  const chunks = new ChunkSink(chunked.stream, signal);
  const pieces = new PlainSink(plain.stream, signal);
  for (const round of ['1', '2']) {
    for (const text of ['ab', '', 'c']) {
      chunks.write(text + (text && round));
      pieces.write(text + (text && round));
    }
    await turn();
  }
  assert.deepEqual(chunked.writes, ['3\r\nab1\r\n2\r\nc1\r\n', '3\r\nab2\r\n2\r\nc2\r\n']);
  assert.deepEqual(plain.writes, ['ab1c1', 'ab2c2']);
});

test('trailers follow the last chunk', async () => {
  const { writes, stream } = output();
  const sink = new ChunkSink(stream, new AbortController().signal);
  sink.write('ab');
  sink.trail({ 'x-sum': ['1', '2\r\nevil: 1'] });
  sink.finish();
  await turn();
  assert.deepEqual(writes, ['2\r\nab\r\n0\r\nX-Sum: 1\r\nX-Sum: 2  evil: 1\r\n\r\n']);
});

test('a writer that is faster than the socket meets back pressure, and `drained` resolves later', async () => {
  const { stream } = output();
  const sink = new ChunkSink(stream, new AbortController().signal);
  assert.equal(sink.write('a'), true);
  assert.equal(sink.write(Buffer.alloc(100_000)), false);
  assert.ok(sink.pendingBytes > 100_000);
  await sink.drained();
  assert.equal(sink.pendingBytes, 0);
  stream.destroy();
  assert.equal(sink.write('b'), false);
});
