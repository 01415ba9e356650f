import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextFields } from './text-fields.js';

const json = (object: object): Buffer => Buffer.from(JSON.stringify(object));

test('strings are read where their names lead to, and are empty where nothing or no string stands', () => {
  const fields = new TextFields(['spec.a', 'type', 'spec.b', 'status.phase']);
  const object = json({ metadata: { status: {} }, spec: { x: { a: 'no' }, b: 'two "b"', a: 1 }, type: 'T' });
  assert.deepEqual(fields.of(object), { 'spec.a': '', type: 'T', 'spec.b': 'two "b"', 'status.phase': '' });
  assert.ok(fields.has('spec.b'));
  assert.ok(!fields.has('spec.c'));
});

test('objects with the same values share them', () => {
  const fields = new TextFields(['spec.a', 'spec.b']);
  const one = fields.of(json({ metadata: { name: 'one' }, spec: { a: 'x', b: 'y' } }));
  assert.equal(fields.of(json({ metadata: { name: 'two' }, spec: { a: 'x', b: 'y' } })), one);
  assert.notDeepEqual(fields.of(json({ spec: { a: 'x', b: '' } })), one);
  assert.notDeepEqual(fields.of(json({ spec: { a: 'y', b: 'x' } })), one);
});
