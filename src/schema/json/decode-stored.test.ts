import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeOf } from '../catalogue.js';
import type { StructType } from '../type.js';
import { decodeJson } from './decode.js';
import { decodeStoredJson } from './decode-stored.js';
import { encodeStored } from './encode.js';

function typeNamed(group: string, version: string, kind: string): StructType {
  const type = typeOf(group, version, kind);
  assert.ok(type);
  return type;
}

const entry = (manager: string, fieldsV1: object): object => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2024-05-01T10:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
});

const FIELDS = { 'f:data': { '.': {}, 'f:a': {} }, 'f:x': { 'v:"}\\"{"': {}, 'k:{"name":"<b>"}': {} } };

function assertSame(type: StructType, object: object): Record<string, unknown> {
  const text = encodeStored(type, object);
  const read = decodeStoredJson(type, Buffer.from(text));
  assert.deepEqual(read, decodeJson(type, text, { strict: false }).object);
  assert.equal(encodeStored(type, read), text);
  return read;
}

test('what is stored reads as it would without sharing, however its owned fields are spelled', () => {
  const type = typeNamed('', 'v1', 'ConfigMap');
  const managedFields = [entry('a', FIELDS), { ...entry('b', {}), subresource: 'status' }];
  assertSame(type, { metadata: { name: 'c', managedFields }, data: { text: '"fieldsType":"FieldsV1","fieldsV1":{' } });
  assertSame(type, { metadata: { name: 'c' } });
});

test('two objects with the same owned fields have one tree of them, which cannot be changed', () => {
  const type = typeNamed('', 'v1', 'ConfigMap');
  const fieldsOf = (name: string): object => {
    const { metadata } = assertSame(type, { metadata: { name, managedFields: [entry('a', FIELDS)] } });
    return (metadata as { managedFields: { fieldsV1: object }[] }).managedFields[0]?.fieldsV1 ?? assert.fail();
  };
  const one = fieldsOf('one');
  assert.equal(one, fieldsOf('two'));
  assert.throws(() => Object.assign(one, { 'f:y': {} }), TypeError);
});

test('an object within an object keeps owned fields of its own', () => {
  const type = typeNamed('apps', 'v1', 'ControllerRevision');
  const data = { metadata: { managedFields: [entry('inner', FIELDS)] } };
  assertSame(type, { metadata: { name: 'r' }, data, revision: 1 });
  assertSame(type, { metadata: { name: 'r', managedFields: [entry('outer', { 'f:data': {} })] }, data, revision: 1 });
});

test('damage is reported as it would be without sharing', () => {
  const type = typeNamed('', 'v1', 'ConfigMap');
  const text = encodeStored(type, { metadata: { name: 'c', managedFields: [entry('a', FIELDS)] } });
  for (const damaged of [text.slice(0, -20), text.replace('"f:a":{}', '"f:a":{')]) {
    const whole = (): unknown => decodeJson(type, damaged, { strict: false });
    let expected: unknown;
    try {
      whole();
    } catch (error) {
      expected = error;
    }
    assert.throws(() => decodeStoredJson(type, Buffer.from(damaged)), expected as Error);
  }
});
