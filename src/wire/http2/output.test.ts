// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool } from '../../lib/values/buffer-pool.js';
import { Output } from './output.js';

test('what is written in small pieces is copied a few times, however much it becomes', () => {
  const output = new Output(new BufferPool());
  const buffers = new Set<Buffer>();
  for (let i = 0; i < 100_000; i++) {
    output.ensure(13);
    output.put(Buffer.alloc(13, i & 0xff));
    buffers.add(output.bytes);
  }
  assert.equal(output.at, 1_300_000);
  assert.equal(output.bytes[1_299_999], 99_999 & 0xff);
  assert.ok(buffers.size < 10, `${buffers.size} buffers`);
});
