import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedFields, sharedText } from './shared-fields.js';

test('the same text is one tree, and the tree knows its text', () => {
  const text = '{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}';
  const tree = sharedFields(text);
  assert.deepEqual(tree, JSON.parse(text));
  assert.equal(sharedFields(Buffer.from(text).toString()), tree);
  assert.equal(sharedText(tree), text);
  assert.equal(sharedText({ ...tree }), undefined);
});

test('a set as large as an object is not kept', () => {
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`f:${i}`, {}])));
  const tree = sharedFields(text);
  assert.notEqual(sharedFields(text), tree);
  assert.equal(sharedText(tree), undefined);
});

test('however many sets there are, what is kept of them has a bound', () => {
  const first = sharedFields('{"f:first":{}}');
  const wide = 'x'.repeat(8000);
  for (let i = 0; i < 200; i++) sharedFields(`{"f:${i}${wide}":{}}`);
  assert.notEqual(sharedFields('{"f:first":{}}'), first);
  // Whoever still has the old tree encodes it as before.
  assert.equal(sharedText(first), '{"f:first":{}}');
});
