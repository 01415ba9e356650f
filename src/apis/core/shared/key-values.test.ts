import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing/test-api.js';
import { configMaps } from '../configmap/definition.js';

test('what is immutable without a member does not accept an empty one', async () => {
  const api = new TestApi({ kinds: [configMaps as unknown as KindDefinition] });
  const path = '/api/v1/namespaces/n/configmaps';
  await api.post(path, { metadata: { name: 'a' }, immutable: true });
  const { status, body } = await api.put(`${path}/a`, { metadata: { name: 'a' }, immutable: true, binaryData: {} });
  assert.equal(status, 422);
  assert.match(body.message, /binaryData: Forbidden: field is immutable/);
  const filledIn = { metadata: { name: 'a' }, immutable: true, data: {} };
  assert.equal((await api.put(`${path}/a`, filledIn)).status, 200);
});
