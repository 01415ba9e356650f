import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { leaseCandidates } from './lease-candidate.js';

test('candidates are not selected by the lease they want', async () => {
  const versions = leaseCandidates.versions.map((version) => ({ ...version, enabledByDefault: true }));
  const api = new TestApi({ kinds: [{ ...leaseCandidates, versions } as unknown as KindDefinition] });
  const path = '/apis/coordination.k8s.io/v1beta1/leasecandidates';
  const { status, body } = await api.get(`${path}?fieldSelector=spec.leaseName%3Dx`);
  assert.equal(status, 400);
  assert.match(body.message, /^"spec.leaseName" is not a known field selector: only "metadata.name"/);
});
