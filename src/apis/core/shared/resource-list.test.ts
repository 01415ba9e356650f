import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../../../machinery/field-error.js';
import { validateStorageAmount } from './resource-list.js';

test('an amount of storage is looked at in 64 bits', () => {
  const errorsOf = (quantity: string): string[] =>
    validateStorageAmount(quantity, FieldPath.of('s')).map(fieldErrorText);
  assert.deepEqual(errorsOf('1Gi'), []);
  assert.deepEqual(errorsOf('9223372036854775807'), []);
  assert.deepEqual(errorsOf('-1Ki'), ['s: Invalid value: -1024: must be a valid resource quantity']);
  assert.deepEqual(errorsOf('9223372036854775808'), [
    's: Invalid value: -9223372036854775808: must be a valid resource quantity',
  ]);
});
