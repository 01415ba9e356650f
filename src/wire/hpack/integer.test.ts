// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteWriter } from '../byte-writer.js';
import { CompressionError } from './compression-error.js';
import { IntegerReader, MAX_INTEGER_BYTES, putInteger } from './integer.js';

const encode = (value: number, prefixBits: number, first = 0): Buffer => {
  const out = new ByteWriter();
  putInteger(out, first, prefixBits, value);
  return out.bytes.subarray(0, out.at);
};
const decode = (hex: string, prefixBits: number): number => {
  const bytes = Buffer.from(hex, 'hex');
  return readerOf(bytes).read(bytes, prefixBits);
};

function readerOf(bytes: Buffer): IntegerReader {
  const reader = new IntegerReader();
  reader.begin(0, bytes.length);
  return reader;
}

test("the standard's examples", () => {
  assert.equal(encode(10, 5).toString('hex'), '0a');
  assert.equal(encode(1337, 5).toString('hex'), '1f9a0a');
  assert.equal(encode(42, 8).toString('hex'), '2a');
  assert.equal(decode('0a', 5), 10);
  assert.equal(decode('ff9a0a', 5), 1337);
});

test('every integer comes back in the bytes allowed for, and the bits in front stay', () => {
  fc.assert(
    fc.property(fc.nat(0x7fffffff), fc.integer({ min: 4, max: 7 }), (value, prefixBits) => {
      const bytes = encode(value, prefixBits, 0x80);
      assert.ok(bytes.length <= MAX_INTEGER_BYTES);
      assert.ok((bytes[0] as number) >= 0x80);
      const reader = readerOf(bytes);
      assert.equal(reader.read(bytes, prefixBits), value);
      assert.equal(reader.at, bytes.length);
    }),
  );
});

test('an integer that ends early, or never, is refused', () => {
  for (const hex of ['', '7f', '7f80', '7fffffffff7f', '7f80808080808000', '7fffffffffffffffffff7f']) {
    assert.throws(() => decode(hex, 7), CompressionError, hex);
  }
});
