import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asText, fieldHead, ProtoWriter, type ProtoValue, readFields, readInt } from './wire.js';

const fieldsOf = (bytes: Buffer): [number, ProtoValue][] => {
  const fields: [number, ProtoValue][] = [];
  readFields(bytes, (number, value) => void fields.push([number, value]));
  return fields;
};

describe('protobuf’s wire form', () => {
  it('is written as the encoding guide has it', () => {
    const inner = new ProtoWriter().int(1, 150).bytes(2, 'testing');
    const bytes = new ProtoWriter().message(3, inner).int(4, true).message(5, new ProtoWriter()).finish();
    assert.equal(bytes.toString('hex'), '1a0c0896011207' + Buffer.from('testing').toString('hex') + '2001' + '2a00');
  });

  it('leaves out what is zero or empty, and what is false', () => {
    assert.equal(new ProtoWriter().int(1, 0).int(2, 0n).int(3, false).bytes(4, '').finish().length, 0);
  });

  it('gives back integers of every size', () => {
    const integers = [1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_456, 2 ** 31 - 1, 2 ** 31, 2 ** 49];
    const large = [Number.MAX_SAFE_INTEGER, -1, Number.MIN_SAFE_INTEGER, 2n ** 62n, -(2n ** 63n)];
    for (const value of [...integers, ...large]) {
      const bytes = new ProtoWriter().int(7, value).finish();
      assert.deepEqual(fieldsOf(bytes), [[7, value]]);
      assert.equal(readInt(bytes, 7), Number(value));
    }
  });

  it('gives back texts beyond ASCII, bytes, and fields of large numbers', () => {
    const bytes = new ProtoWriter()
      .bytes(1, 'käse \u{1f9c0}')
      .bytes(2000, Buffer.from([0, 255]))
      .finish();
    const [text, raw] = fieldsOf(bytes);
    assert.equal(asText(text?.[1] ?? 0), 'käse \u{1f9c0}');
    assert.deepEqual(raw, [2000, Buffer.from([0, 255])]);
  });

  it('has heads that stand before bytes written elsewhere', () => {
    const value = Buffer.alloc(300, 'x');
    const joined = Buffer.concat([fieldHead(2, value.length), value]);
    assert.deepEqual(joined, new ProtoWriter().bytes(2, value).finish());
    assert.deepEqual(new ProtoWriter().raw(joined).int(3, 1).finish(), Buffer.concat([joined, Buffer.from([0x18, 1])]));
  });

  it('is read past fixed-size fields and fields that are not wanted', () => {
    const fixed = Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4]);
    const bytes = new ProtoWriter().raw(fixed).bytes(3, 'skipped').int(4, -1).int(5, 9).int(5, 10).finish();
    assert.equal(readInt(bytes, 5), 10);
    assert.equal(readInt(bytes, 6), 0);
    assert.deepEqual(
      fieldsOf(bytes).map(([number]) => number),
      [3, 4, 5, 5],
    );
  });

  it('is refused when it is cut off, too long, or of a wire type that is none', () => {
    const refused: readonly (readonly [readonly number[], RegExp])[] = [
      [[0x08], /ends inside a number/],
      [[0x08, 0x80], /ends inside a number/],
      [[0x08, ...Array.from({ length: 11 }, () => 0x80), 0], /a number is too long/],
      [[0x0a, 5, 1], /a field ends after its message/],
      [[0x0b], /wire type 3/],
    ];
    for (const [bytes, why] of refused) {
      assert.throws(() => fieldsOf(Buffer.from(bytes)), why);
      assert.throws(() => readInt(Buffer.from(bytes), 2), why);
    }
  });
});
