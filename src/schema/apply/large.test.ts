// What is done in parts for large objects is what is done at once for small ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedSets } from '../../lib/testing/counted-sets.js';
import { runSync } from '../../lib/scheduling/yield.js';
import type { JsonObject } from '../../machinery/object.js';
import { typeOf } from '../catalogue.js';
import { deepCopySteps } from '../deep-copy.js';
import type { StructType } from '../type.js';
import { applyPatch } from './apply-patch.js';
import { compare } from './compare.js';
import { equalSteps } from './equal-steps.js';
import { SYSTEM_FIELDS, updateManagedFields } from './field-manager.js';
import { inPieces, unionSteps } from './field-set-steps.js';
import { FieldSet } from './field-set.js';
import { merge } from './merge.js';
import { newFieldSteps } from './new-fields.js';
import { sortElementSteps, sortElements } from './path-element.js';
import { zeroOf } from './zero.js';

const MANY = 10_000;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

const CONFIG_MAP = typeOf('', 'v1', 'ConfigMap') as StructType;
const POD = typeOf('', 'v1', 'Pod') as StructType;

const configMap = (from: number, to: number, value: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'large' },
  data: Object.fromEntries(numbers(to - from).map((i) => [`k${from + i}`, value])),
});

const pod = (names: readonly number[], value: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'large' },
  spec: { containers: [{ name: 'c', env: names.map((i) => ({ name: `E${i}`, value })) }] },
});

const fieldsOf = (object: JsonObject, position = 0): JsonObject => {
  const { managedFields } = object['metadata'] as { managedFields: { fieldsV1: JsonObject }[] };
  return (managedFields[position] as { fieldsV1: JsonObject }).fieldsV1;
};

const apply = (live: JsonObject | undefined, patch: JsonObject, manager: string): JsonObject => {
  const type = patch['kind'] === 'Pod' ? POD : CONFIG_MAP;
  const kind = String(patch['kind']);
  const time = new Date(0);
  return applyPatch({ type, apiVersion: 'v1', kind, live, patch, manager, force: true, subresource: '', time });
};

test('a large apply removes what it no longer says, and leaves what another owns', () => {
  const first = apply(undefined, configMap(0, MANY, 'a'), 'one');
  assert.equal(Object.keys(first['data'] as JsonObject).length, MANY);
  const second = apply(first, configMap(MANY / 2, MANY + 10, 'b'), 'two');
  assert.deepEqual(Object.keys((fieldsOf(second, 0)['f:data'] as JsonObject) ?? {}).length, MANY / 2);
  const third = apply(second, configMap(0, 5, 'a'), 'one');
  const data = third['data'] as JsonObject;
  assert.deepEqual(
    Object.keys(data).toSorted(),
    [...numbers(5), ...numbers(MANY / 2 + 10).map((i) => i + MANY / 2)].map((i) => `k${i}`).toSorted(),
  );
  assert.equal(data['k0'], 'a');
  assert.equal(data[`k${MANY - 1}`], 'b');
});

test('a large keyed list is applied in the order of the configuration, item by item', () => {
  const forwards = numbers(MANY);
  const first = apply(undefined, pod(forwards, 'a'), 'one');
  const second = apply(first, pod(forwards.toReversed(), 'b'), 'two');
  assert.deepEqual(envOf(second), envOf(pod(forwards.toReversed(), 'b')));
  const third = apply(second, pod([3, 1], 'b'), 'two');
  assert.deepEqual(envOf(apply(third, pod([], 'b'), 'one')), envOf(pod([3, 1], 'b')));
});

const envOf = (object: JsonObject): unknown =>
  ((object['spec'] as JsonObject)['containers'] as { env: unknown }[])[0]?.env;

test('a large update removes what it changes from others', () => {
  const live = apply(undefined, configMap(0, MANY, 'a'), 'one');
  const newObject = { ...configMap(0, MANY, 'b'), metadata: { ...(live['metadata'] as JsonObject) } } as JsonObject;
  (newObject['data'] as JsonObject)['k7'] = 'a';
  const write = { type: CONFIG_MAP, apiVersion: 'v1', manager: 'two', subresource: '', time: new Date(0) };
  updateManagedFields({ ...write, live: live as never, newObject: newObject as never });
  assert.deepEqual(fieldsOf(newObject, 0), { 'f:data': { 'f:k7': {} } });
  assert.equal(Object.keys(fieldsOf(newObject, 1)['f:data'] as JsonObject).length, MANY - 1);
});

test('many thousands of updaters become one in time that grows with them', () => {
  const written = (count: number): { managedFields: unknown; sets: number } => {
    const managedFields = numbers(count).map((i) => ({
      manager: `m${String(i).padStart(6, '0')}`,
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
    }));
    const newObject = { ...configMap(0, 1, 'a'), metadata: { name: 'x', managedFields } } as never;
    const write = { type: CONFIG_MAP, apiVersion: 'v1', manager: 'z', subresource: '', time: new Date(0) };
    const sets = countedSets(() => updateManagedFields({ ...write, live: undefined, newObject }));
    return { managedFields: (newObject as { metadata: { managedFields: unknown } }).metadata.managedFields, sets };
  };
  const { managedFields, sets } = written(4_000);
  const [first, ...rest] = managedFields as { manager: string; fieldsV1: { 'f:data': object } }[];
  assert.equal(first?.manager, 'ancient-changes');
  // The writer took the field of the first, and keeps its name, as the last eight do.
  assert.equal(Object.keys(first?.fieldsV1['f:data'] ?? {}).length, 4_000 - 1 - 8);
  assert.deepEqual(
    rest.map(({ manager }) => manager),
    [...numbers(8).map((i) => `m00${3992 + i}`), 'z'],
  );
  assert.ok(sets < 2.2 * written(2_000).sets, `${sets}`);
});

test('what the writer of a large new object owns is the result of a comparison with nothing', () => {
  const objects: [JsonObject, StructType][] = [
    [configMap(0, MANY, 'a'), CONFIG_MAP],
    [{ ...configMap(0, 4090, 'a'), metadata: { name: 'x', labels: configMap(0, 9, '')['data'] } }, CONFIG_MAP],
    [pod(numbers(MANY).toReversed(), 'a'), POD],
    ...numbers(12).map((i): [JsonObject, StructType] => [configMap(0, 4085 + i, 'a'), CONFIG_MAP]),
  ];
  for (const [object, type] of objects) {
    const { changed } = compare(zeroOf(type), object, type);
    const expected = changed.difference(SYSTEM_FIELDS).encode();
    const got = runSync(newFieldSteps(object, type, { system: SYSTEM_FIELDS, reset: new FieldSet() }));
    assert.equal(JSON.stringify(got), JSON.stringify(expected));
  }
});

test('a large comparison finds each change', () => {
  const [left, right] = [configMap(0, MANY, 'a'), configMap(10, MANY + 10, 'a')];
  (right['data'] as JsonObject)['k50'] = 'b';
  const { changed, removed } = compare(left, right, CONFIG_MAP);
  const keys = (from: number): FieldSet => FieldSet.of(...numbers(10).map((i) => ['f:data', `f:k${from + i}`]));
  assert.ok(removed.equals(keys(0)));
  assert.ok(changed.equals(keys(MANY).union(FieldSet.of(['f:data', 'f:k50']))));
});

test('a large merge keeps what only the live object has', () => {
  const merged = merge(configMap(0, MANY, 'a'), configMap(MANY, 2 * MANY, 'b'), CONFIG_MAP) as JsonObject;
  assert.deepEqual(merged['data'], {
    ...(configMap(0, MANY, 'a')['data'] as object),
    ...(configMap(MANY, 2 * MANY, 'b')['data'] as object),
  });
});

test('large sets in pieces are the sets', () => {
  const paths = (step: number): FieldSet => {
    const set = new FieldSet();
    for (let i = 0; i < 3 * MANY; i += step) {
      set.insert(['f:data', `f:k${i}`]);
      if (i % 7 === 0) set.insert(['f:spec', `k:{"name":"${i % 5000}"}`, 'f:a', `v:${i}`]);
      if (i % 21 === 0) set.insert(['f:spec', `k:{"name":"${i % 5000}"}`]);
    }
    set.insert(['f:data']);
    return set;
  };
  const [left, right] = [paths(2), paths(3)];
  const original = left.encode();
  assert.ok([...left.pieces()].length > 3);
  assert.ok(runSync(inPieces(left, (piece) => piece)).equals(left));
  assert.ok(runSync(inPieces(left, (piece) => piece.intersection(right))).equals(left.intersection(right)));
  assert.ok(runSync(inPieces(left, (piece) => piece.difference(right))).equals(left.difference(right)));
  assert.ok(runSync(unionSteps(left, right)).equals(left.union(right)));
  assert.ok(runSync(unionSteps(right, left)).equals(left.union(right)));
  assert.deepEqual(left.encode(), original);
  assert.ok(FieldSet.decode(original).equals(left));
});

test('a large value equals its copy, and nothing that differs in one place', () => {
  const object = { a: numbers(MANY).map((i) => ({ i, b: [i] })), m: configMap(0, MANY, 'a') };
  const copy = runSync(deepCopySteps(object));
  assert.deepEqual(copy, object);
  assert.equal(runSync(equalSteps(object, copy)), true);
  const last = copy.a[MANY - 1] as { b: number[] };
  last.b[0] = -1;
  assert.equal(runSync(equalSteps(object, copy)), false);
  last.b[0] = MANY - 1;
  (copy.m['data'] as JsonObject)['more'] = 'b';
  assert.equal(runSync(equalSteps(object, copy)), false);
  assert.equal(runSync(equalSteps(copy, object)), false);
});

test('steps are sorted by what they say: numbers by their size, keys by their values, field by field', () => {
  const sorted = [
    'f:a',
    'f:b',
    'k:{"a":2,"b":"x"}',
    'k:{"a":10,"b":"a"}',
    'k:{"name":"10"}',
    'k:{"name":"9"}',
    'v:2',
    'v:10',
    'v:"a"',
    'v:true',
    'i:2',
    'i:010',
  ];
  assert.deepEqual(sortElements(sorted.toReversed()), sorted);
  const many = numbers(MANY).map((i) => `v:${i}`);
  assert.deepEqual(runSync(sortElementSteps(many.toReversed())), many);
});

test('no more than ten thousand places are reported that do not fit their type', () => {
  const errorsOf = (config: JsonObject): string[] => {
    try {
      apply(undefined, config, 'one');
    } catch (error) {
      return (error as Error).message.split('\n').slice(1);
    }
    return [];
  };
  const same = errorsOf(
    pod(
      Array.from({ length: 50_000 }, () => 1),
      'a',
    ),
  );
  assert.equal(same.length, 10_000);
  assert.deepEqual(new Set(same), new Set(['  .spec.containers[name="c"].env: duplicate entries for key [name="E1"]']));
  const wrong = errorsOf({
    ...configMap(0, 1, ''),
    data: Object.fromEntries(numbers(MANY + 9).map((i) => [`k${i}`, 1])),
  });
  assert.equal(wrong.length, MANY);
  assert.equal(wrong[7], '  .data.k7: expected string, got &value.valueUnstructured{Value:1}');
});
