import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metaType } from '../schema/catalogue.js';

test('members are explained in the words that the conformance suite looks for', () => {
  const explained = (type: string, member: string): string => metaType(type).byJson.get(member)?.description ?? '';
  assert.match(explained('PartialObjectMetadata', 'apiVersion'), /^APIVersion defines /);
  assert.match(explained('PartialObjectMetadata', 'metadata'), /^Standard object's metadata/);
  assert.match(explained('ObjectMeta', 'creationTimestamp'), /^CreationTimestamp is a timestamp /);
});
