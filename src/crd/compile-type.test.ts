// Server-side apply on custom resources: what their schemas say of lists and maps holds wherever those stand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../machinery/object.js';
import { StatusError } from '../machinery/status.js';
import { applyPatch } from '../schema/apply/apply-patch.js';
import { updateManagedFields } from '../schema/apply/field-manager.js';
import type { JSONSchemaProps } from '../schema/generated/apiextensions.v1.js';
import { compileType } from './compile-type.js';

const text: JSONSchemaProps = { type: 'string' };
const object = (properties: Record<string, JSONSchemaProps>): JSONSchemaProps => ({ type: 'object', properties });
const mapOf = (value: JSONSchemaProps, more: Partial<JSONSchemaProps> = {}): JSONSchemaProps => ({
  type: 'object',
  additionalProperties: value,
  ...more,
});
const listOf = (items: JSONSchemaProps, listType: string, keys?: string[]): JSONSchemaProps => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': listType,
  ...(keys && { 'x-kubernetes-list-map-keys': keys }),
});

const type = compileType({
  name: 'test.example.v1.Board',
  preserveUnknown: false,
  schema: object({
    spec: object({
      members: mapOf(listOf(text, 'set')),
      ports: mapOf(listOf(object({ name: text, port: { type: 'integer' } }), 'map', ['name'])),
      whole: mapOf(listOf(text, 'atomic')),
      labels: mapOf(mapOf(text, { 'x-kubernetes-map-type': 'atomic' })),
      rows: listOf(listOf(text, 'set'), 'atomic'),
      nested: listOf(object({ name: text, tags: mapOf(listOf(text, 'set')) }), 'map', ['name']),
    }),
  }),
});

interface Board extends JsonObject {
  metadata: { managedFields: { manager: string; fieldsV1: JsonObject }[] };
  spec: JsonObject;
}

const kind = { apiVersion: 'test.example/v1', kind: 'Board' };

function apply(manager: string, live: Board | undefined, spec: JsonObject, force = false): Board {
  const patch = { ...kind, metadata: { name: 'b' }, spec };
  const write = { manager, subresource: '', time: new Date(0), force, ...kind };
  return applyPatch({ type, ...write, live, patch }) as Board;
}

const owned = (board: Board, manager: string): unknown =>
  board.metadata.managedFields.find((entry) => entry.manager === manager)?.fieldsV1['f:spec'];

test('a set in a map is owned item by item', () => {
  let board = apply('one', undefined, { members: { red: ['ann'] } });
  assert.deepEqual(owned(board, 'one'), { 'f:members': { 'f:red': { '.': {}, 'v:"ann"': {} } } });
  board = apply('two', board, { members: { red: ['bob'], blue: ['cid'] } });
  assert.deepEqual(board.spec, { members: { red: ['ann', 'bob'], blue: ['cid'] } });
  board = apply('one', board, {});
  assert.deepEqual(board.spec, { members: { red: ['bob'], blue: ['cid'] } });
  assert.deepEqual(owned(board, 'two'), {
    'f:members': { 'f:red': { '.': {}, 'v:"bob"': {} }, 'f:blue': { '.': {}, 'v:"cid"': {} } },
  });
});

test('a list with keys in a map is owned item by item, and conflicts are of the fields in it', () => {
  const board = apply('one', undefined, { ports: { web: [{ name: 'http', port: 80 }] } });
  const both = apply('two', board, { ports: { web: [{ name: 'https', port: 443 }] } });
  assert.deepEqual(both.spec, {
    ports: {
      web: [
        { name: 'http', port: 80 },
        { name: 'https', port: 443 },
      ],
    },
  });
  assert.throws(
    () => apply('two', both, { ports: { web: [{ name: 'http', port: 81 }] } }),
    (error) => error instanceof StatusError && error.message.includes('.spec.ports.web[name="http"].port'),
  );
});

test('the same in the items of a list', () => {
  const board = apply('one', undefined, { nested: [{ name: 'a', tags: { t: ['x'] } }] });
  const both = apply('two', board, { nested: [{ name: 'a', tags: { t: ['y'] } }] });
  assert.deepEqual(both.spec, { nested: [{ name: 'a', tags: { t: ['x', 'y'] } }] });
});

test('what is atomic in a map is one value', () => {
  const board = apply('one', undefined, { labels: { a: { x: '1' } }, whole: { w: ['x'] } });
  assert.deepEqual(owned(board, 'one'), { 'f:labels': { 'f:a': {} }, 'f:whole': { 'f:w': {} } });
  const forced = apply('two', board, { labels: { a: { y: '2' } }, whole: { w: ['y'] } }, true);
  assert.deepEqual(forced.spec, { labels: { a: { y: '2' } }, whole: { w: ['y'] } });
});

test('sets in a list that is one value are one value with it, but hold no item twice', () => {
  const board = apply('one', undefined, { rows: [['x', 'y'], ['x']] });
  assert.deepEqual(owned(board, 'one'), { 'f:rows': {} });
  assert.throws(
    () => apply('one', undefined, { rows: [['x', 'x']] }),
    (error) =>
      error instanceof StatusError && error.message.includes('.spec.rows[0]: duplicate entries for key [="x"]'),
  );
});

test('an update notes items of a set in a map by their values', () => {
  const newObject = { ...kind, metadata: { name: 'b' }, spec: { members: { red: ['ann'] } } } as unknown as Board;
  const write = { manager: 'kubectl', apiVersion: kind.apiVersion, subresource: '', time: new Date(0) };
  updateManagedFields({ type, ...write, live: undefined, newObject });
  const [entry] = newObject.metadata.managedFields;
  assert.deepEqual(entry?.fieldsV1['f:spec'], {
    '.': {},
    'f:members': { '.': {}, 'f:red': { '.': {}, 'v:"ann"': {} } },
  });
});
