import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryStore } from '../kv/memory.js';
import { storedForm } from './stored-form.js';

test('etcd keeps what the flag says, but definitions and API services always as JSON; the embedded store what is served', () => {
  const local = openMemoryStore();
  const etcd = { ...local, local: false };
  const mediaTypeIn = (group: string, given: string): string => {
    const form = storedForm(etcd, group, given);
    return form.kind === 'storage' ? form.mediaType : form.kind;
  };
  assert.equal(mediaTypeIn('apps', 'application/yaml'), 'application/yaml');
  assert.equal(mediaTypeIn('apps', ''), 'application/json');
  assert.equal(mediaTypeIn('apiextensions.k8s.io', 'application/yaml'), 'application/json');
  assert.equal(mediaTypeIn('apiregistration.k8s.io', 'application/vnd.kubernetes.protobuf'), 'application/json');
  assert.deepEqual(storedForm({ ...local, local: true }, 'apps', 'application/yaml'), { kind: 'json' });
});
