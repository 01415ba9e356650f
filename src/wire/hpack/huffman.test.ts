// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteWriter } from '../byte-writer.js';
import { CompressionError } from './compression-error.js';
import { decodeHuffman, huffmanBytes, putHuffman } from './huffman.js';

const encode = (text: string): Buffer => {
  const out = new ByteWriter();
  out.ensure(text.length * 4 + 1);
  putHuffman(out, text);
  return out.bytes.subarray(0, out.at);
};
const decode = (bytes: Buffer): string => decodeHuffman(bytes, 0, bytes.length);

test("the standard's examples", () => {
  for (const [text, hex] of [
    ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
    ['no-cache', 'a8eb10649cbf'],
    ['custom-value', '25a849e95bb8e8b4bf'],
    ['Mon, 21 Oct 2013 20:13:21 GMT', 'd07abe941054d444a8200595040b8166e082a62d1bff'],
    ['', ''],
  ] as const) {
    assert.equal(encode(text).toString('hex'), hex);
    assert.equal(decode(Buffer.from(hex, 'hex')), text);
    assert.equal(huffmanBytes(text), hex.length / 2);
  }
});

test('every text of bytes comes back, in the length foretold', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString('latin1');
      const coded = encode(text);
      assert.equal(coded.length, huffmanBytes(text));
      assert.equal(decode(coded), text);
    }),
  );
});

test('padding is ones, and less than a byte of them', () => {
  for (const hex of ['ff', 'ffff', '18', '1fff', 'f1e3c2e5f23a6ba0ab90f400']) {
    assert.throws(() => decode(Buffer.from(hex, 'hex')), CompressionError, hex);
  }
  // "0" is 00000: three ones follow.
  assert.equal(decode(Buffer.from('07', 'hex')), '0');
  assert.throws(() => decode(Buffer.from('06', 'hex')), CompressionError);
});

test('the end of a string is no symbol', () => {
  assert.throws(() => decode(Buffer.from('ffffffff', 'hex')), CompressionError);
  assert.throws(() => decode(Buffer.from('fffffffffc', 'hex')), CompressionError);
});

test('any bytes decode or are refused, and what decodes encodes to the same', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const coded = Buffer.from(bytes);
      let text: string;
      try {
        text = decode(coded);
      } catch (error) {
        assert.ok(error instanceof CompressionError);
        return;
      }
      assert.deepEqual(encode(text), coded);
    }),
    { numRuns: 2000 },
  );
});
