import assert from 'node:assert/strict';
import test from 'node:test';
import { mustType } from '../catalogue.js';
import { DecodeError } from '../json/walk.js';
import { decodeCbor, decodeCborTree } from './decode.js';
import { encodeCbor, encodeCborTree } from './encode.js';

test('strings and keys are byte strings, maps are sorted by encoded key, bytes are tagged', () => {
  const secret = mustType('io.k8s.api.core.v1.Secret');
  const bytes = encodeCbor(secret, { kind: 'Secret', metadata: { name: 'a' }, data: { k: 'AAEC' }, type: 'b' });
  assert.equal(
    bytes.toString('hex'),
    [
      'd9d9f7',
      'a4',
      '4464617461',
      'a1',
      '416b',
      'd643000102',
      '446b696e64',
      '46536563726574',
      '4474797065',
      '4162',
    ].join('') + ['486d65746164617461', 'a1', '446e616d65', '4161'].join(''),
  );
  assert.deepEqual(decodeCbor(secret, bytes, { strict: true }), {
    object: { kind: 'Secret', metadata: { name: 'a' }, data: { k: 'AAEC' }, type: 'b' },
    strictErrors: [],
  });
});

test('numbers are as short as they can be', () => {
  const hex = (value: unknown): string => encodeCborTree(value).toString('hex', 3);
  assert.equal(hex(23), '17');
  assert.equal(hex(24), '1818');
  assert.equal(hex(-500), '3901f3');
  assert.equal(hex(2n ** 62n), '1b4000000000000000');
  assert.equal(hex(1.5), 'f93e00');
  assert.equal(hex(0.1), 'fb3fb999999999999a');
  assert.equal(hex(100000.5), 'fa47c35040');
});

test('text strings, chunks, tags and indefinite lengths are read too', () => {
  const read = (hex: string): unknown => decodeCborTree(Buffer.from(hex, 'hex'));
  assert.equal(read('6161'), 'a');
  assert.equal(read('5f41614162ff'), 'ab');
  assert.deepEqual(read('9f0102ff'), [1, 2]);
  assert.deepEqual(read('bf416101ff'), { a: 1 });
  assert.equal(read('d643000102'), 'AAEC');
  assert.equal(read('f93e00'), 1.5);
});

test('what JSON cannot hold and what is too much is refused', () => {
  const bad = [
    '',
    'a1',
    'f97e00',
    'f7',
    'c24101',
    'a2416101416102',
    'a10101',
    '1bffffffffffffffff',
    '41ff',
    '5affffffff',
    '0001',
    'ff',
  ];
  for (const hex of [...bad, '81'.repeat(70) + '01', `9a00000500${'01'.repeat(1280)}`]) {
    assert.throws(() => decodeCborTree(Buffer.from(hex, 'hex')), DecodeError, hex.slice(0, 40));
  }
});

test('of members that are not known, the place of one in its map is told', () => {
  const pod = mustType('io.k8s.api.core.v1.Pod');
  const strictErrors = (tree: object) => decodeCbor(pod, encodeCborTree(tree), { strict: true }).strictErrors;
  const at = (index: number) => [`cbor: found unknown field at map element index ${index}`];
  assert.deepEqual(strictErrors({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', labels: { any: 'b' } } }), []);
  assert.deepEqual(strictErrors({ spec: { containers: [{ name: 'a' }, { name: 'b', nope: 1 }] } }), at(1));
  assert.deepEqual(strictErrors({ zzzzzzzz: 1, kind: 'Pod', metadata: { no: 1 } }), at(2));
});
