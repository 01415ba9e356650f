// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteWriter } from '../byte-writer.js';
import { HpackDecoder } from './decoder.js';
import { HpackEncoder } from './encoder.js';

type Field = readonly [string, string];

const encode = (encoder: HpackEncoder, status: number, fields: readonly Field[]): Buffer => {
  const out = new ByteWriter();
  encoder.putStatus(out, status);
  for (const [name, value] of fields) encoder.putField(out, name, value);
  return out.bytes.subarray(0, out.at);
};
const decode = (decoder: HpackDecoder, block: Buffer): string[] => decoder.decode(block, 1 << 20).fields;

test('what is sent again is a byte each', () => {
  const encoder = new HpackEncoder();
  const fields: Field[] = [
    ['content-type', 'application/json'],
    ['cache-control', 'no-cache, private'],
    ['x-kubernetes-pf-flowschema-uid', 'e4b1d2a0'],
  ];
  assert.ok(encode(encoder, 200, fields).length > 30);
  assert.equal(encode(encoder, 200, fields).length, 4);
});

test('audit ids are indexed once, lengths not at all, and cookies are never-indexed literals', () => {
  const encoder = new HpackEncoder();
  assert.equal(encode(encoder, 200, [['audit-id', 'a']]).length, 11);
  for (const id of ['b', 'b']) assert.equal(encode(encoder, 200, [['audit-id', id]]).toString('hex'), '880f2f0162');
  for (const length of ['1', '1']) {
    assert.equal(encode(encoder, 200, [['content-length', length]]).toString('hex'), '880f0d0131');
  }
  assert.equal(encode(encoder, 200, [['set-cookie', 'a']]).toString('hex'), '881f280161');
});

test('of a name with many values the newest are found', () => {
  const encoder = new HpackEncoder();
  for (let second = 0; second < 30; second++) encode(encoder, 200, [['date', String(second)]]);
  assert.equal(encode(encoder, 200, [['date', '29']]).toString('hex'), '88be');
  assert.equal(encode(encoder, 200, [['date', '22']]).toString('hex'), '88c5');
});

test('a value that would begin another line stays in its own', () => {
  const block = encode(new HpackEncoder(), 200, [['warning', 'a\r\nb: c\0']]);
  assert.deepEqual(decode(new HpackDecoder(), block), [':status', '200', 'warning', 'a  b: c ']);
});

test('a smaller table is announced before it is used, also one that was smaller in between', () => {
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder();
  const fields: Field[] = [['content-type', 'application/json']];
  decode(decoder, encode(encoder, 200, fields));
  encoder.limitTable(0);
  encoder.limitTable(100);
  const block = encode(encoder, 200, fields);
  assert.equal(block.subarray(0, 3).toString('hex'), '203f45');
  assert.deepEqual(decode(decoder, block), [':status', '200', 'content-type', 'application/json']);
  encoder.limitTable(0);
  assert.deepEqual(decode(decoder, encode(encoder, 200, fields)).slice(2), fields[0]);
  // Never more than the default, whatever is offered.
  encoder.limitTable(1 << 20);
  assert.equal(encode(encoder, 200, []).toString('hex'), '3fe11f88');
});

test('whatever is sent arrives, over any number of blocks and sizes of the table', () => {
  const field = fc.tuple(
    fc.constantFrom(
      'content-type',
      'date',
      'x-a',
      'x-b',
      'audit-id',
      'set-cookie',
      'warning',
      'x-long-name-of-a-field',
    ),
    fc.oneof(fc.constantFrom('a', 'b', 'application/json'), fc.string({ maxLength: 300, unit: 'binary-ascii' })),
  );
  const block = fc.record({
    status: fc.constantFrom(200, 201, 404, 431, 500),
    fields: fc.array(field, { maxLength: 12 }),
    table: fc.option(fc.constantFrom(0, 50, 200, 4096, 100_000)),
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
      const encoder = new HpackEncoder();
      const decoder = new HpackDecoder();
      for (const { status, fields, table } of blocks) {
        if (table !== null) encoder.limitTable(table);
        const clean = fields.map(([name, value]): Field => [name, value.replace(/[\r\n\0]/g, ' ')]);
        assert.deepEqual(decode(decoder, encode(encoder, status, clean)), [':status', String(status), ...clean.flat()]);
      }
    }),
  );
});
