import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldPath, fieldErrorText } from '../machinery/field-error.js';
import { mustType } from '../schema/catalogue.js';
import { decodeTree } from '../schema/json/decode.js';
import { validateTemplateMeta } from './template-meta.js';

const errorsOf = (metadata: object): string[] => {
  const template = mustType('io.k8s.api.core.v1.PersistentVolumeClaimTemplate');
  const { object } = decodeTree(template, { metadata, spec: {} }, { strict: false });
  return validateTemplateMeta(object['metadata'] as object, FieldPath.of('metadata')).map(fieldErrorText);
};

test('labels and annotations may stand in the metadata of a template, and no time is no member', () => {
  assert.deepEqual(errorsOf({ labels: { a: 'b' }, annotations: { c: 'd' }, creationTimestamp: null, name: '' }), []);
});

test('all else is refused in its own order, an empty list too', () => {
  assert.deepEqual(errorsOf({ finalizers: [], namespace: 'n', uid: 'u', name: 'x', deletionGracePeriodSeconds: 0 }), [
    'metadata.name: Forbidden: cannot be set',
    'metadata.namespace: Forbidden: cannot be set',
    'metadata.uID: Forbidden: cannot be set',
    'metadata.deletionGracePeriodSeconds: Forbidden: cannot be set',
    'metadata.finalizers: Forbidden: cannot be set',
  ]);
});
