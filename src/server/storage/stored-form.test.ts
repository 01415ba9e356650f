import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedForm } from './stored-form.js';

const etcd = false;
const embedded = true;

test('etcd keeps what the flag says, but CRDs and API services always as JSON; the embedded store what is served', () => {
  const of = (group: string) => ({ resource: { group, resource: 'things' } });
  const mediaTypeIn = (group: string, mediaType: string, cbor = false): string => {
    const form = storedForm(etcd, of(group), { mediaType, cbor });
    return form.kind === 'storage' ? form.mediaType : form.kind;
  };
  assert.equal(mediaTypeIn('apps', 'application/yaml'), 'application/yaml');
  assert.equal(mediaTypeIn('apps', 'application/yaml', true), 'application/yaml');
  assert.equal(mediaTypeIn('apps', ''), 'application/json');
  assert.equal(mediaTypeIn('apiextensions.k8s.io', 'application/yaml'), 'application/json');
  assert.equal(mediaTypeIn('apiregistration.k8s.io', 'application/vnd.kubernetes.protobuf'), 'application/json');
  assert.deepEqual(storedForm(embedded, of('apps'), { mediaType: 'application/yaml', cbor: true }), {
    kind: 'json',
  });
});

test('custom resources are JSON in etcd whatever the flag says, and CBOR with its gate', () => {
  const widgets = { resource: { group: 'example.test', resource: 'widgets' }, custom: true };
  const options = { mediaType: 'application/vnd.kubernetes.protobuf', cbor: false };
  assert.deepEqual(storedForm(etcd, widgets, options), { kind: 'storage', mediaType: 'application/json' });
  const form = storedForm(etcd, widgets, { ...options, cbor: true });
  assert.deepEqual(form, { kind: 'storage', mediaType: 'application/cbor' });
});
