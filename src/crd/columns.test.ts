import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { columnsOf } from './columns.js';
import { parseJsonPath } from './json-path.js';

const find = (path: string, value: unknown): readonly unknown[] | undefined => parseJsonPath(path)?.(value);

test('paths find members, items, slices and what a filter lets through', () => {
  const value = {
    spec: { ports: [{ n: 1, name: 'a' }, { n: 2, name: 'b' }, { n: 3 }], 'example.test/x': 'dotted' },
    status: {
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Other', status: 'False' },
      ],
    },
  };
  assert.deepEqual(find('.spec.ports[1].name', value), ['b']);
  assert.deepEqual(find('.spec.ports[-1].n', value), [3]);
  assert.deepEqual(find('.spec.ports[*].n', value), [1, 2, 3]);
  assert.deepEqual(find('.spec.ports[0:2].n', value), [1, 2]);
  assert.deepEqual(find('.status.conditions[?(@.type=="Ready")].status', value), ['True']);
  assert.deepEqual(find(".status.conditions[?(@.type!='Ready')].status", value), ['False']);
  assert.deepEqual(find('.spec.ports[?(@.n>1)].n', value), [2, 3]);
  assert.deepEqual(find('.spec.ports[?(@.name)].n', value), [1, 2]);
  assert.deepEqual(find('.spec.example\\.test/x', value), ['dotted']);
  assert.deepEqual(find(".spec['example\\.test/x']", value), ['dotted']);
  assert.deepEqual(find('.spec.missing.deeper', value), []);
  assert.equal(find('.spec[', value), undefined);
});

test('a path that never ends is refused at once', () => {
  for (const text of ['["', "['", '[?(@.a=="', '.a'])
    assert.equal(parseJsonPath(`${text}${'\\'.repeat(61)}`), undefined);
});

test('cells are of their column’s type, or empty', () => {
  const table = columnsOf([
    { name: 'I', type: 'integer', jsonPath: '.i' },
    { name: 'S', type: 'string', jsonPath: '.s' },
    { name: 'M', type: 'string', jsonPath: '.m', priority: 1 },
    { name: 'B', type: 'boolean', jsonPath: '.b' },
    { name: 'D', type: 'date', jsonPath: '.d' },
    { name: 'X', type: 'date', jsonPath: '.s' },
    { name: 'N', type: 'integer', jsonPath: '.missing' },
  ]);
  const object = {
    metadata: { name: 'o' },
    i: 1.9,
    s: 'text',
    m: { b: 1, a: [true] },
    b: 'no',
    d: '2024-01-01T00:00:00Z',
  };
  assert.deepEqual(table.columns.map(({ name, priority = 0 }) => [name, priority]).slice(2, 4), [
    ['S', 0],
    ['M', 1],
  ]);
  assert.deepEqual(table.row(object as KubeObject, new Date('2024-01-01T00:02:00Z')), [
    'o',
    1,
    'text',
    '{"a":[true],"b":1}',
    null,
    '2m',
    '<invalid>',
    null,
  ]);
});

test('a kind without columns shows its age', () => {
  const table = columnsOf(undefined);
  assert.deepEqual(
    table.columns.map(({ name }) => name),
    ['Name', 'Age'],
  );
  const object: KubeObject = { metadata: { name: 'o', creationTimestamp: '2024-01-01T00:00:00Z' } };
  assert.deepEqual(table.row(object, new Date('2024-01-03T00:00:00Z')), ['o', '2d']);
});

test('tables show a thousand columns, and a row looks at no more than it is worth', () => {
  const column = (jsonPath: string) => ({ name: 'c', type: 'string', jsonPath });
  const wide = columnsOf(Array.from({ length: 60_000 }, () => column('.spec.a')));
  assert.equal(wide.columns.length, 1_001);
  assert.equal(columnsOf(Array.from({ length: 60_000 }, () => column(`.${'a'.repeat(1023)}`))).columns.length, 65);

  const object = {
    metadata: { name: 'o' },
    spec: { a: 'x'.repeat(100_000), list: Array.from({ length: 50_000 }, () => 1) },
  };
  const cells = wide.row(object as KubeObject, new Date(0)) as readonly (string | null)[];
  assert.equal(cells.length, 1_001);
  assert.ok(cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0) < 1_300_000);
  assert.ok(cells[1] !== null && cells[1000] === null);

  const members = Array.from({ length: 1_000 }, () => '?(@.x)').join(',');
  const table = columnsOf([column(`.spec.list[0:1,${members}]`), column('.spec.list[0]')]);
  assert.deepEqual(table.row(object as KubeObject, new Date(0)), ['o', null, null]);
});
