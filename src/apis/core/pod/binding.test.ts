import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing/test-api.js';
import { pods } from './definition.js';

const PODS = '/api/v1/namespaces/n/pods';

test('a binding that names another pod or version of it is refused in the store’s words', async () => {
  const api = new TestApi({ kinds: [pods as unknown as KindDefinition] });
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const { status, body } = await api.post(PODS, pod);
  assert.equal(status, 201, JSON.stringify(body));
  const { uid = '', resourceVersion = '' } = body.metadata;
  const bind = async (metadata: object) => {
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'p', ...metadata },
      target: { name: 'node' },
    };
    return api.post(`${PODS}/p/binding`, binding);
  };
  const refused = (what: string, wanted: string, found: string): string =>
    'Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: /registry/pods/n/p, ' +
    `ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
  assert.equal((await bind({ uid: 'other' })).body.message, refused('UID', 'other', uid));
  const stale = (await bind({ uid, resourceVersion: '7777' })).body.message;
  assert.equal(stale, refused('ResourceVersion', '7777', resourceVersion));
  assert.equal((await bind({ uid, resourceVersion })).status, 201);
});
