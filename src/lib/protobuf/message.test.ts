import assert from 'node:assert/strict';
import { test } from 'node:test';
import { big, bytes, flag, int, ints, many, message, one, text } from './message.js';
import { fieldHead } from './wire.js';

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

test('a message is encoded as the encoding guide has it; what is zero, empty or false is left out', () => {
  const inner = message({ number: int(1), word: text(2) });
  const outer = message({ inner: one(3, inner), flag: flag(4), empty: one(5, inner), zero: big(6), none: bytes(7) });
  const values = { inner: { number: 150, word: 'testing' }, flag: true, empty: {}, zero: 0n, none: Buffer.alloc(0) };
  const expected = `1a0c0896011207${Buffer.from('testing').toString('hex')}20012a00`;
  assert.equal(outer.encode(values).toString('hex'), expected);
  assert.equal(outer.encode({ flag: false }).length, 0);
});

test('integers of every size are decoded as they were encoded', () => {
  const small = [1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_456, 2 ** 31 - 1, 2 ** 31, 2 ** 49];
  const INTEGER = message({ value: int(7) });
  for (const value of [...small, Number.MAX_SAFE_INTEGER, -1, Number.MIN_SAFE_INTEGER]) {
    assert.equal(INTEGER.decode(INTEGER.encode({ value })).value, value);
  }
  const LARGE = message({ value: big(7) });
  for (const value of [2n ** 62n, -(2n ** 63n), 1n]) assert.equal(LARGE.decode(LARGE.encode({ value })).value, value);
});

test('texts beyond ASCII, bytes, and fields of large numbers are decoded as they were encoded', () => {
  const values = { word: 'käse \u{1f9c0}', raw: Buffer.from([0, 255]) };
  const FAR = message({ word: text(1), raw: bytes(2000) });
  assert.deepEqual(FAR.decode(FAR.encode(values)), values);
});

test('a head stands before bytes that were written elsewhere', () => {
  const raw = Buffer.alloc(300, 'x');
  assert.deepEqual(Buffer.concat([fieldHead(2, raw.length), raw]), message({ raw: bytes(2) }).encode({ raw }));
});

test('fixed-size fields and unknown fields are skipped, and of several values the last counts', () => {
  const fixed = Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4]);
  const unknown = message({ skipped: text(3), negative: int(4) }).encode({ skipped: 'x', negative: -1 });
  const values = Buffer.from([0x28, 9, 0x28, 10]);
  assert.deepEqual(message({ value: int(5) }).decode(Buffer.concat([fixed, unknown, values])), { value: 10 });
});

test('what is cut off, too long, or of a wire type that is none is refused', () => {
  const refused: readonly (readonly [readonly number[], RegExp])[] = [
    [[0x08], /ends inside a number/],
    [[0x08, 0x80], /ends inside a number/],
    [[0x08, ...Array.from({ length: 11 }, () => 0x80), 0], /a number is too long/],
    [[0x0a, 5, 1], /a field ends after its message/],
    [[0x0b], /wire type 3/],
  ];
  const definitions = [
    message({ known: int(1), text: text(1) }),
    message({ known: text(1) }),
    message({ known: int(2) }),
  ];
  for (const [encoded, why] of refused) {
    for (const definition of definitions) assert.throws(() => definition.decode(Buffer.from(encoded)), why);
  }
});
