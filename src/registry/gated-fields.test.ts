import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropGatedFields, gated, gatedAlways } from './gated-fields.js';

interface Thing {
  plain?: string;
  parts?: { name: string; deep?: { secret?: number } }[];
}

const TABLE = [
  gated<Thing>('Plain', 'plain'),
  gated<Thing>(['Deep', 'Deeper'], 'parts[].deep.secret'),
  gatedAlways<Thing>('Named', 'parts[].name'),
];
const on = (...gates: string[]) => ({ enabled: (name: string) => gates.includes(name) });
const thing = (): Thing => ({ plain: 'x', parts: [{ name: 'a' }, { name: 'b', deep: { secret: 1 } }] });

test('a field whose gate is off is dropped, one of several gates keeps it', () => {
  const dropped = thing();
  dropGatedFields(TABLE, dropped, undefined, on('Named'));
  assert.deepEqual(dropped, { parts: [{ name: 'a' }, { name: 'b', deep: {} }] });
  const kept = thing();
  dropGatedFields(TABLE, kept, undefined, on('Plain', 'Deeper', 'Named'));
  assert.deepEqual(kept, thing());
});

test('what the old object has may stay, unless nothing may', () => {
  const object = thing();
  dropGatedFields(TABLE, object, { parts: [{ name: 'c', deep: { secret: 2 } }] }, on());
  assert.deepEqual(object, { parts: [{}, { deep: { secret: 1 } }] });
});

test('parts shared with the old object stay as they are', () => {
  const old = thing();
  const object: Thing = { ...old };
  dropGatedFields(TABLE, object, undefined, on());
  assert.deepEqual(object, { parts: [{}, { deep: {} }] });
  assert.deepEqual(old, thing());
});
