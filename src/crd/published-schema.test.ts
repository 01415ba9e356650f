import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metaType } from '../schema/catalogue.js';

test('apiVersion is explained in the words that the conformance suite looks for', () => {
  const description = metaType('PartialObjectMetadata').byJson.get('apiVersion')?.description;
  assert.match(description ?? '', /^APIVersion defines /);
});
