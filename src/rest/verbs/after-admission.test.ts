import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { lazyFields } from '../../schema/lazy-fields.js';
import { tidyAdmitted } from './after-admission.js';

const owned: ManagedFieldsEntry[] = [
  { manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
];

function tidied(managedFields: ManagedFieldsEntry[] | undefined): { kept: unknown; warnings: string[] } {
  const object = { metadata: { name: 'a', ...(managedFields && { managedFields }) } } as KubeObject;
  const warnings: string[] = [];
  tidyAdmitted(object, owned, (text) => warnings.push(text));
  return { kept: object.metadata.managedFields, warnings };
}

test('what plugins leave of the managed fields stays when it makes sense', () => {
  assert.deepEqual(tidied(owned), { kept: owned, warnings: [] });
  assert.deepEqual(tidied(undefined), { kept: undefined, warnings: [] });
  const other = [{ ...owned[0], manager: 'b' }];
  assert.deepEqual(tidied(other), { kept: other, warnings: [] });
});

test('a large set of fields that is as it was is not read, and one that is not is', () => {
  const isRead = (fields: JsonObject): boolean => {
    const entry = { manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: fields };
    const before = [{ ...entry, fieldsV1: lazyFields('{"f:data":{"f:a":{}}}') }] as ManagedFieldsEntry[];
    const object = { metadata: { name: 'a', managedFields: [entry] } } as unknown as KubeObject;
    const parse = mock.method(JSON, 'parse');
    tidyAdmitted(object, before, () => undefined);
    parse.mock.restore();
    return parse.mock.callCount() > 0;
  };
  assert.equal(isRead(lazyFields('{"f:data":{"f:a":{}}}')), false);
  assert.equal(isRead(lazyFields('{"f:data":{"f:b":{}}}')), true);
});

test('and is put back with a warning when it makes none', () => {
  const { kept, warnings } = tidied([{ ...owned[0], operation: 'Guess' }]);
  assert.deepEqual(kept, owned);
  assert.match(
    warnings.join(),
    /^\.metadata\.managedFields was in an invalid state after admission; .*: operation must be/,
  );
});
