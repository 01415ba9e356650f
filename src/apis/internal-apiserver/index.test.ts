import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestApi } from '../../server/testing/test-api.js';
import { internalApiserverKinds } from './index.js';

const VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';

test('a missing common version is an error when the servers agree on one', async () => {
  const api = new TestApi({
    kinds: internalApiserverKinds,
    gates: { StorageVersionAPI: true },
    runtimeConfig: { 'internal.apiserver.k8s.io/v1alpha1': 'true' },
  });
  assert.equal((await api.post(VERSIONS, { metadata: { name: 'g.things' }, spec: {} })).status, 201);
  const status = { storageVersions: [{ apiServerID: 'x', encodingVersion: 'v1', decodableVersions: ['v1'] }] };
  const answer = await api.send('PATCH', `${VERSIONS}/g.things/status`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status },
  });
  assert.match(
    String(answer.body.message),
    /status\.commonEncodingVersion: Invalid value: null: the common encoding version is v1$/,
  );
});
