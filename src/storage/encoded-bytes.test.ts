import assert from 'node:assert/strict';
import test from 'node:test';
import { type EncodedCell, EncodedBytes } from './encoded-bytes.js';

const SLAB = 256 * 1024;
const protobuf = {};
const metadata = {};

test('bytes are found under their form until they are dropped', () => {
  const encoded = new EncodedBytes();
  const one = encoded.keep(protobuf, Buffer.from('one'), undefined);
  const both = encoded.keep(metadata, Buffer.from('two'), one);
  assert.equal(String(encoded.find(both, protobuf)), 'one');
  assert.equal(String(encoded.find(both, metadata)), 'two');
  assert.equal(encoded.find(one, metadata), undefined);
  assert.equal(encoded.heldBytes, SLAB);
  encoded.drop(both);
  assert.equal(encoded.heldBytes, 0);
});

test('the oldest go first when there is no more room, and memory stays within the bound', () => {
  const encoded = new EncodedBytes(2 * SLAB);
  const bytes = Buffer.alloc(SLAB / 8, 'x');
  const cells: (EncodedCell | undefined)[] = [];
  for (let i = 0; i < 40; i++) cells.push(encoded.keep(protobuf, bytes, undefined));
  assert.equal(encoded.heldBytes, 2 * SLAB);
  const found = cells.map((cell) => encoded.find(cell, protobuf) !== undefined);
  assert.deepEqual(found, [...Array<boolean>(24).fill(false), ...Array<boolean>(16).fill(true)]);
  // What is gone makes room in the chain for what is kept anew.
  assert.equal(encoded.without(cells[0], metadata), undefined);
  assert.equal(encoded.without(cells[39], metadata), cells[39]);
  assert.equal(encoded.without(cells[39], protobuf), undefined);
});

test('what nobody reads any more is released, and what somebody reads is not', () => {
  const encoded = new EncodedBytes();
  const full = Buffer.alloc(SLAB / 4, 'x');
  const cells = Array.from({ length: 8 }, () => encoded.keep(protobuf, full, undefined));
  const target = Buffer.alloc(1);
  const [first, , , , second] = cells;
  encoded.releaseUnread();
  assert.equal(encoded.heldBytes, 2 * SLAB);
  encoded.find(first, protobuf);
  encoded.copy(second, protobuf, { target, at: 0, from: 0 });
  encoded.releaseUnread();
  assert.equal(encoded.heldBytes, 2 * SLAB);
  encoded.find(first, protobuf);
  encoded.releaseUnread();
  assert.equal(encoded.heldBytes, SLAB);
  assert.deepEqual(encoded.find(first, protobuf), full);
  assert.equal(encoded.find(second, protobuf), undefined);
  for (const cell of cells) encoded.drop(cell);
  assert.equal(encoded.heldBytes, 0);
});

test('what would fill a slab is not kept, nor anything without room', () => {
  const large = Buffer.alloc(SLAB / 4 + 1);
  assert.equal(new EncodedBytes().keep(protobuf, large, undefined), undefined);
  const none = new EncodedBytes(0);
  assert.equal(none.keep(protobuf, Buffer.from('x'), undefined), undefined);
  assert.equal(none.heldBytes, 0);
});

test('where most bytes are no longer wanted, the slabs with the fewest that are go', () => {
  const encoded = new EncodedBytes();
  const bytes = Buffer.alloc(SLAB / 64, 'x');
  const wanted: (EncodedCell | undefined)[] = [];
  // One object of each slab stays as it is while the others change and change.
  for (let slab = 0; slab < 200; slab++) {
    wanted.push(encoded.keep(protobuf, bytes, undefined));
    for (let i = 1; i < 64; i++) encoded.drop(encoded.keep(protobuf, bytes, undefined));
  }
  const found = wanted.filter((cell) => encoded.find(cell, protobuf) !== undefined);
  assert.ok(encoded.heldBytes <= 2 * found.length * bytes.length + 9 * SLAB, `${encoded.heldBytes} bytes`);
  assert.ok(found.length > 0);
  // What is gone is no longer counted when its object changes, too.
  for (const cell of wanted) encoded.drop(cell);
  assert.equal(encoded.heldBytes, 0);
});

test('bytes that are wanted stay, however much changes beside them', () => {
  const encoded = new EncodedBytes();
  const bytes = Buffer.alloc(SLAB / 64, 'x');
  const wanted = Array.from({ length: 64 * 20 }, () => encoded.keep(protobuf, bytes, undefined));
  for (let i = 0; i < 64 * 100; i++) encoded.drop(encoded.keep(protobuf, bytes, undefined));
  assert.ok(wanted.every((cell) => encoded.find(cell, protobuf) !== undefined));
});
