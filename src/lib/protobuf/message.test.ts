import assert from 'node:assert/strict';
import { test } from 'node:test';
import { big, bytes, flag, int, ints, many, message, one, text } from './message.js';

const ITEM = message({ name: text(1), size: int(2) });
const ALL = message({
  key: bytes(1),
  id: big(2),
  isLast: flag(3),
  counts: ints(4),
  items: many(5, ITEM),
  first: one(16, ITEM),
});

test('what was encoded is decoded, and what is absent is empty', () => {
  const values = {
    key: Buffer.from('k'),
    id: -7n,
    isLast: true,
    counts: [0, 300, 2 ** 40],
    items: [{ name: 'ä', size: 1 }, {}],
    first: { name: 'x'.repeat(200), size: 70_000 },
  };
  const decoded = ALL.decode(ALL.encode(values));
  assert.deepEqual({ ...decoded, items: decoded.items[0] }, { ...values, items: values.items[0] });
  assert.deepEqual(decoded.items[1], { name: '', size: 0 });
  const nothing = { key: Buffer.alloc(0), id: 0n, isLast: false, counts: [], items: [], first: undefined };
  assert.deepEqual(ALL.decode(ALL.encode({})), nothing);
});

test('a message larger than the buffer of the writer is whole, and so is the next one', () => {
  const key = Buffer.alloc(3 * 1024 * 1024, 'x');
  assert.ok(ALL.decode(ALL.encode({ key, first: { name: 'after' } })).key.equals(key));
  assert.deepEqual(ALL.encode({ isLast: true }), Buffer.from([0x18, 1]));
});

test('a field that ends after the message around it is refused', () => {
  // A list item of three bytes, whose text would take five from there on, though the buffer has them.
  const overlong = Buffer.from([0x2a, 3, 0x0a, 5, 0x61, 0x61, 0x61, 0x61, 0x61]);
  assert.throws(() => ALL.decode(overlong), /a field ends after its message/);
  assert.throws(() => ALL.decode(Buffer.from([0x2a, 9, 0x0a])), /a field ends after its message/);
});
