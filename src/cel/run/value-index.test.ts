import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DYN, listType } from '../type.js';
import { JsonList } from '../json-value.js';
import { result } from '../testing.js';
import { Duration, Timestamp, Uint, type Value } from '../value.js';
import { equalValues } from './equality.js';
import { ValueIndex } from './value-index.js';

const LIST = listType(DYN);
const SOME: readonly Value[] = [
  1n,
  1,
  new Uint(1n),
  2 ** 53,
  2n ** 53n + 1n,
  'a',
  '1',
  true,
  null,
  new Duration(1n),
  new Timestamp(1, 0),
];
const value = fc.oneof(
  fc.constantFrom(...SOME),
  fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }).map((list): Value => new JsonList(list)),
);

test('what is found is what is equal', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 8 }), value, (values, wanted) => {
      const found = values.some((one) => equalValues(wanted, one) === true);
      assert.equal(ValueIndex.of(values).has(wanted), found);
    }),
  );
});

test(
  'long lists are made distinct, and compared as sets, without comparing each with each',
  { timeout: 10_000 },
  () => {
    const list = Array.from({ length: 100_000 }, (_, i) => ({ name: `n${i}`, at: [i] }));
    const values = { list: new JsonList(list), other: new JsonList(structuredClone(list).reverse()) };
    const options = { variables: { list: LIST, other: LIST }, values };
    assert.equal(result('list.distinct().size()', options), 'int 100000');
    assert.equal(result('sets.equivalent(list, other)', options), 'bool true');
    assert.equal(result('sets.intersects(list, [{"name": dyn("n1"), "at": dyn([1.0])}])', options), 'bool true');
  },
);
