import assert from 'node:assert/strict';
import test from 'node:test';
import { mustType } from '../catalogue.js';
import { DecodeError } from '../json/walk.js';
import { errorText } from '../../lib/text/error-text.js';
import { decodeCbor, decodeCborCustom, decodeCborTree } from './decode.js';
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

test('a member without a value is left out', () => {
  assert.deepEqual(encodeCborTree({ a: undefined, b: 1 }), encodeCborTree({ b: 1 }));
});

test('text strings, chunks, tags and indefinite lengths are read too', () => {
  const read = (hex: string): unknown =>
    (decodeCborTree(Buffer.from(`a14161${hex}`, 'hex')) as Record<string, unknown>)['a'];
  assert.equal(read('6161'), 'a');
  assert.equal(read('5f41614162ff'), 'ab');
  assert.deepEqual(read('9f0102ff'), [1, 2]);
  assert.deepEqual(read('bf416101ff'), { a: 1 });
  assert.equal(read('d643000102'), 'AAEC');
  assert.equal(read('d743000aff'), '000aff');
  assert.equal(String(read('d68143000102')), 'AAEC');
  assert.equal(read('f93e00'), 1.5);
  assert.equal(read('c11a65920080'), '2024-01-01T00:00:00Z');
  assert.equal(read('c1fb41d9648020200000'), '2024-01-01T00:00:00.5Z');
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
    'a141611bffffffffffffffff',
    '61ff',
    '5affffffff',
    '0001',
    'ff',
  ];
  for (const hex of [...bad, '81'.repeat(70) + '01', `9a00000500${'01'.repeat(1280)}`]) {
    assert.throws(() => decodeCborTree(Buffer.from(hex, 'hex')), DecodeError, hex.slice(0, 40));
  }
});

test('a type accepts of CBOR what kube-apiserver accepts, which is less than of JSON', () => {
  const pod = mustType('io.k8s.api.core.v1.Pod');
  const refusal = (tree: object): string => {
    try {
      decodeCbor(pod, encodeCborTree(tree), { strict: true });
      return 'accepted';
    } catch (error) {
      return errorText(error);
    }
  };
  const limits = (cpu: unknown): object => ({ spec: { containers: [{ resources: { limits: { cpu } } }] } });
  assert.equal(refusal(limits('1')), 'accepted');
  assert.equal(refusal(limits(1)), misread('positive integer', 'spec', 'string'));
  assert.equal(refusal(limits(1.5)), misread('primitives', 'spec', 'string'));
  assert.equal(
    refusal({ spec: { containers: [{ resources: { limits: 1 } }] } }),
    misread('positive integer', 'spec', 'v1.ResourceList'),
  );
  assert.equal(refusal({ metadata: { uid: 1 } }), misread('positive integer', 'metadata', 'types.UID'));
  assert.equal(refusal({ metadata: { generation: 1.5 } }), misread('primitives', 'metadata', 'int64'));
  assert.equal(
    refusal({ spec: { priority: 2 ** 31 } }),
    `${misread('positive integer', 'spec', 'int32')} (2147483648 overflows int32)`,
  );
  assert.equal(
    refusal({ metadata: [] }),
    `${misread('array', 'metadata', 'v1.ObjectMeta')} (cannot decode CBOR array to struct without toarray option)`,
  );
});

const misread = (sort: string, field: string, type: string): string =>
  `cbor: cannot unmarshal ${sort} into Go struct field v1.Pod.${field} of type ${type}`;

test('null is nothing to a pointer, and what was before it in a map of texts', () => {
  const pod = mustType('io.k8s.api.core.v1.Pod');
  const { object } = decodeCbor(
    pod,
    encodeCborTree({ metadata: { labels: { a: 'x', b: null } }, spec: { priority: null } }),
    {
      strict: true,
    },
  );
  assert.deepEqual(object['metadata'], { labels: { a: 'x', b: 'x' } });
  assert.equal((object['spec'] as Record<string, unknown>)['priority'], undefined);
});

test('a duplicate among members counts for more than what stands in one of them', () => {
  const pod = mustType('io.k8s.api.core.v1.Pod');
  const twice = Buffer.concat([
    Buffer.from('a3', 'hex'),
    ...['metadata', 'spec', 'spec'].flatMap((name) => [text(name), Buffer.from('01', 'hex')]),
  ]);
  assert.throws(
    () => decodeCbor(pod, twice, { strict: false }),
    /found duplicate map key "spec" at map element index 2$/,
  );
});

const text = (value: string): Buffer => encodeCborTree(value).subarray(3);

test('a custom resource says what it is, or is shown', () => {
  const refusal = (hex: string): string => {
    try {
      decodeCborCustom(Buffer.from(hex, 'hex'));
      return 'accepted';
    } catch (error) {
      return errorText(error);
    }
  };
  assert.equal(refusal('f6'), "Object 'Kind' is missing in 'null'");
  const shown =
    'd9d9f7a2' + ['4161', '9f', '5f4162ff', 'f93c00', '20', 'f4', 'ff', '6262c39f'.slice(2), 'd8634100'].join('');
  assert.equal(
    refusal(shown),
    `Object 'Kind' is missing in '55799({'a': [_ (_ 'b'), 1.0, -1, false], "\\u00df": 99('\\u0000')})'`,
  );
  assert.equal(refusal('a1446b696e646141'), "Object 'apiVersion' is missing in '{'kind': \"A\"}'");
});

test('of members that are not known, the place of one in its map is reported', () => {
  const pod = mustType('io.k8s.api.core.v1.Pod');
  const strictErrors = (tree: object) => decodeCbor(pod, encodeCborTree(tree), { strict: true }).strictErrors;
  const at = (index: number) => [`cbor: found unknown field at map element index ${index}`];
  assert.deepEqual(strictErrors({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', labels: { any: 'b' } } }), []);
  assert.deepEqual(strictErrors({ spec: { containers: [{ name: 'a' }, { name: 'b', nope: 1 }] } }), at(1));
  assert.deepEqual(strictErrors({ zzzzzzzz: 1, kind: 'Pod', metadata: { no: 1 } }), at(2));
});
