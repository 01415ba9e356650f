import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printedDefinition } from './definitions.js';

test('a default of a custom resource that is a long whole number is published as a double', () => {
  const { text } = printedDefinition('a', { type: 'integer', default: 9007199254740993n, enum: [1, 2n ** 63n] });
  assert.equal(text, '"a":{"type":"integer","default":9007199254740992,"enum":[1,9223372036854776000]}');
});
