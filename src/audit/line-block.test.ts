import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineBlockBuilder } from './line-block.js';

const MEGABYTE = 1024 * 1024;
const linesOf = (builder: LineBlockBuilder, count: number): string[] =>
  builder.take(count).flatMap(({ bytes, ends }) => ends.map((end, i) => bytes.toString('utf8', ends[i - 1] ?? 0, end)));

function add(builder: LineBlockBuilder, ...lines: string[]): void {
  for (const line of lines) {
    // In pieces, of which the block may be full in the middle.
    builder.add(line.slice(0, line.length / 2));
    builder.add(Buffer.from(line.slice(line.length / 2)));
    builder.endLine();
  }
}

test('lines are removed in their order, also in parts', () => {
  const builder = new LineBlockBuilder();
  add(builder, 'a\n', 'bé\n', 'c\n');
  assert.deepEqual(linesOf(builder, 2), ['a\n', 'bé\n']);
  add(builder, 'd\n');
  assert.equal(builder.totalBytes, 4);
  assert.deepEqual(linesOf(builder, 1), ['c\n']);
  assert.deepEqual(linesOf(builder, 5), ['d\n']);
  assert.equal(builder.totalBytes, 0);
});

test('a block that is full begins another, without a copy of what is in it', () => {
  const builder = new LineBlockBuilder();
  const long = `${'x'.repeat(0.7 * MEGABYTE)}\n`;
  add(builder, long, long, long, 'short\n');
  const blocks = builder.take(4);
  assert.deepEqual(
    blocks.map(({ ends }) => ends.length),
    [2, 2],
  );
  assert.ok(Buffer.concat(blocks.map(({ bytes }) => bytes)).equals(Buffer.from(`${long}${long}${long}short\n`)));
});

test('a buffer is used again once it was released whole', () => {
  const builder = new LineBlockBuilder();
  add(builder, 'a\n', 'b\n');
  const [first] = builder.take(1);
  const [second] = builder.take(1);
  if (first === undefined || second === undefined) throw new Error('no block');
  builder.giveBack(first);
  add(builder, 'c\n');
  assert.equal(second.bytes.toString(), 'b\n');
  const [third] = builder.take(1);
  if (third === undefined) throw new Error('no block');
  assert.notEqual(third.bytes.buffer, first.bytes.buffer);
  builder.giveBack(third);
  add(builder, 'd\n');
  builder.take(1);
  add(builder, 'e\n');
  assert.equal(builder.take(1)[0]?.bytes.buffer, third.bytes.buffer);
});
