import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonPatchShape, mergePatchShape, strategicPatchShape } from './patch-shape.js';

const refused = (message: string): object => ({ code: 400, message });
const unread = (what: string): object => refused(`error decoding patch: json: cannot unmarshal ${what}`);

test('a JSON patch is a list of operations whose members are texts', () => {
  assert.throws(() => jsonPatchShape({}, true), unread('object into Go value of type []handlers.jsonPatchOp'));
  assert.throws(() => jsonPatchShape([7], true), unread('number into Go value of type handlers.jsonPatchOp'));
  assert.throws(
    () => jsonPatchShape([{ op: 7, path: '/a' }], true),
    unread('number into Go struct field jsonPatchOp.op of type string'),
  );
  assert.deepEqual(jsonPatchShape([null, { op: 'test', from: null }], true), [null, { op: 'test', from: null }]);
});

test('a JSON patch of nothing has no operations', () => {
  assert.deepEqual(jsonPatchShape(null, true), []);
  assert.deepEqual(jsonPatchShape(null, false), []);
});

test('what is no object is no merge patch, and reported only where fields are checked', () => {
  assert.throws(() => mergePatchShape([], true), unread('array into Go value of type map[string]interface {}'));
  assert.deepEqual(mergePatchShape([], false), []);
  assert.equal(mergePatchShape(null, true), null);
});

test('a strategic merge patch is an object, and null is one that changes nothing', () => {
  assert.throws(
    () => strategicPatchShape([]),
    refused('json: cannot unmarshal array into Go value of type map[string]interface {}'),
  );
  assert.deepEqual(strategicPatchShape(null), {});
});
