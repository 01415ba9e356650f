import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { ipAddresses } from './ipaddress.js';

const PATH = '/apis/networking.k8s.io/v1/ipaddresses';
const parentRef = { resource: 'services', name: 's', namespace: 'n' };
const open = (): TestApi => new TestApi({ kinds: [ipAddresses as unknown as KindDefinition] });

test('the name of an address is never drawn: what it should begin with is all of it', async () => {
  const api = open();
  const { status, body } = await api.post(PATH, { metadata: { generateName: '10.0.0.1' }, spec: { parentRef } });
  assert.equal(status, 201);
  assert.equal(body.metadata.name, '10.0.0.1');
});

test('addresses are not selected by who has them', async () => {
  const { status, body } = await open().get(`${PATH}?fieldSelector=spec.parentRef.name%3Ds`);
  assert.equal(status, 400);
  assert.match(body.message, /^"spec.parentRef.name" is not a known field selector: only "metadata.name"/);
});
