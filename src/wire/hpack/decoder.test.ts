// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CompressionError } from './compression-error.js';
import { HpackDecoder } from './decoder.js';

const LIMIT = 1 << 20;
const decode = (decoder: HpackDecoder, hex: string): string[] => {
  const { fields } = decoder.decode(Buffer.from(hex.replaceAll(' ', ''), 'hex'), LIMIT);
  return fields.flatMap((field, i) => (i % 2 === 0 ? [`${field}: ${fields[i + 1]}`] : []));
};
const refuses = (hex: string): void => assert.throws(() => decode(new HpackDecoder(), hex), CompressionError, hex);

test('C.2: each form of a field', () => {
  const forms = [
    ['400a637573746f6d2d6b65790d637573746f6d2d686561646572', 'custom-key: custom-header'],
    ['040c2f73616d706c652f70617468', ':path: /sample/path'],
    ['100870617373776f726406736563726574', 'password: secret'],
    ['82', ':method: GET'],
  ] as const;
  for (const [hex, field] of forms) assert.deepEqual(decode(new HpackDecoder(), hex), [field]);
});

test('a block ends where it ends, whatever follows in its memory', () => {
  const bytes = Buffer.from('8282826461', 'hex');
  assert.deepEqual(new HpackDecoder().decode(bytes, LIMIT, 1, 2).fields, [':method', 'GET']);
  const literal = Buffer.from('040c2f73616d706c652f70617468', 'hex');
  for (let end = 1; end < literal.length; end++) {
    assert.throws(() => new HpackDecoder().decode(literal, LIMIT, 0, end), CompressionError);
  }
  const long = Buffer.from('ffffff7f', 'hex');
  assert.throws(() => new HpackDecoder().decode(long, LIMIT, 0, 2), /ends early/);
});

const REQUESTS = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
  [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
];
const ANSWERS = [
  [
    ':status: 302',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:21 GMT',
    'location: https://www.example.com',
  ],
  [
    ':status: 307',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:21 GMT',
    'location: https://www.example.com',
  ],
  [
    ':status: 200',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:22 GMT',
    'location: https://www.example.com',
    'content-encoding: gzip',
    'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
];

const SERIES = [
  {
    name: 'C.3: requests',
    expected: REQUESTS,
    blocks: [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
  },
  {
    name: 'C.4: requests by Huffman',
    expected: REQUESTS,
    blocks: [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  },
  {
    name: 'C.5: answers, and a table too small for all of them',
    expected: ANSWERS,
    tableBytes: 256,
    blocks: [
      '4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d',
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
  },
  {
    name: 'C.6: answers by Huffman',
    expected: ANSWERS,
    tableBytes: 256,
    blocks: [
      '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
  },
];

for (const { name, expected, blocks, tableBytes } of SERIES) {
  test(name, () => {
    const decoder = new HpackDecoder(tableBytes);
    assert.deepEqual(
      blocks.map((block) => decode(decoder, block)),
      expected,
    );
  });
}

test('an index that is none is refused', () => {
  for (const hex of ['80', 'be', 'c0', 'ff00', '7e0161', '0f3f0161']) refuses(hex);
});

test('what ends early is refused', () => {
  for (const hex of ['40', '4001', '400161', '40016105', '048c', '0481', 'ff', '3f']) refuses(hex);
});

test('the table is resized at the beginning of a block only, and not beyond what was agreed', () => {
  assert.deepEqual(decode(new HpackDecoder(), '203fe11f82'), [':method: GET']);
  refuses('8220');
  refuses('3fe21f');
  const decoder = new HpackDecoder();
  decode(decoder, '4001610162');
  decode(decoder, '20');
  assert.throws(() => decode(decoder, 'be'), CompressionError);
});

test('a field larger than the table empties it', () => {
  const decoder = new HpackDecoder(64);
  assert.deepEqual(decode(decoder, '4001610162 be'), ['a: b', 'a: b']);
  decode(decoder, `400161 21 ${'62'.repeat(33)}`);
  assert.throws(() => decode(decoder, 'be'), CompressionError);
});

test('too many fields are not kept, but the table still learns', () => {
  const decoder = new HpackDecoder();
  const block = Buffer.from('400161016240016301640001650166', 'hex');
  assert.deepEqual(decoder.decode(block, 34 + 34), { fields: ['a', 'b', 'c', 'd'], tooLarge: true });
  assert.deepEqual(decoder.decode(Buffer.from('bebf', 'hex'), 34 * 2), {
    fields: ['c', 'd', 'a', 'b'],
    tooLarge: false,
  });
  assert.equal(decoder.decode(Buffer.alloc(50_000, 0xbe), 1000).fields.length, 2 * Math.floor(1000 / 34));
});

test('the version changes only when the table does', () => {
  const decoder = new HpackDecoder();
  const before = decoder.version;
  decode(decoder, '820001610162');
  assert.equal(decoder.version, before);
  decode(decoder, '4001610162');
  const after = decoder.version;
  assert.notEqual(after, before);
  decode(decoder, '20');
  assert.notEqual(decoder.version, after);
});

test('any bytes decode or are refused', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 8 }), (blocks) => {
      const decoder = new HpackDecoder();
      for (const block of blocks) {
        try {
          decoder.decode(Buffer.from(block), 2000);
        } catch (error) {
          assert.ok(error instanceof CompressionError);
          return;
        }
      }
    }),
    { numRuns: 3000 },
  );
});

test('a block of more fields than any head has room for is not read to its end', () => {
  const indexed = (count: number): Buffer => Buffer.alloc(count, 0x82);
  assert.ok(new HpackDecoder().decode(indexed(65_536), LIMIT).tooLarge);
  assert.throws(() => new HpackDecoder().decode(indexed(65_537), LIMIT), CompressionError);
  // Nor one that only resizes the table.
  assert.throws(() => new HpackDecoder().decode(Buffer.alloc(65_537, 0x20), LIMIT), CompressionError);
});
