import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checksumOf, seedOf, tableChecksum } from './checksum.js';

const CHECK = Buffer.from('123456789');

it('is CRC-32, with and without the platform', () => {
  for (const crc of [checksumOf, tableChecksum]) {
    assert.equal(crc(CHECK, 0), 0xcbf43926);
    assert.equal(crc(CHECK.subarray(4), crc(CHECK.subarray(0, 4), 0)), 0xcbf43926);
    assert.equal(crc(Buffer.alloc(0), 7), 7);
  }
});

it('has another seed for each bit of each number', () => {
  const numbers = [123_456, 78_901, 1_700_000_000_000] as const;
  const seed = seedOf(...numbers);
  for (let index = 0; index < 3; index++) {
    for (let bit = 0; bit < 48; bit++) {
      const other: [number, number, number] = [...numbers];
      const has = Math.trunc((other[index] ?? 0) / 2 ** bit) % 2 === 1;
      other[index] = (other[index] ?? 0) + (has ? -1 : 1) * 2 ** bit;
      assert.notEqual(seedOf(...other), seed, `bit ${bit} of number ${index}`);
    }
  }
});
