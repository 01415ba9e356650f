import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonText } from './stringify.js';

test('integers of any size keep their digits', () => {
  const tree = { a: [9007199254740993n, 'x"', null, { b: true, none: undefined }], c: 1.5 };
  assert.equal(jsonText(tree), '{"a":[9007199254740993,"x\\"",null,{"b":true}],"c":1.5}');
  assert.equal(jsonText({ a: [1, { none: undefined }] }), '{"a":[1,{}]}');
});
