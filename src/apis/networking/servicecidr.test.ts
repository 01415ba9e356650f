import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { serviceCidrs } from './servicecidr.js';

const PATH = '/apis/networking.k8s.io/v1/servicecidrs';

test('whoever writes the status of a block owns the spec sent along, and changes neither it nor the labels', async () => {
  const api = new TestApi({ kinds: [serviceCidrs as unknown as KindDefinition] });
  const labels = { a: 'b' };
  await api.post(PATH, { metadata: { name: 'x', labels }, spec: { cidrs: ['10.0.0.0/24'] } });
  const sent = { metadata: { name: 'x', labels: { a: 'c' } }, spec: { cidrs: ['10.1.0.0/24'] }, status: {} };
  const { status, body } = await api.put(`${PATH}/x/status`, sent);
  assert.equal(status, 200);
  assert.deepEqual([body.metadata.labels, body.spec], [labels, { cidrs: ['10.0.0.0/24'] }]);
  const owned = body.metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.fieldsV1;
  assert.deepEqual(owned?.['f:spec'], { 'f:cidrs': {} });
});
