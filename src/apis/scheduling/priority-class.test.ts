import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';
import { priorityClasses } from './priority-class.js';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const NAME = 'system-node-critical';

test('nobody deletes a class of the system by its name, there or not, but all of a collection go', async () => {
  const api = new TestApi({ kinds: [priorityClasses as unknown as KindDefinition] });
  const remove = async (): Promise<readonly unknown[]> => {
    const body = { preconditions: { uid: 'other' } };
    const answer = await api.send('DELETE', `${CLASSES}/${NAME}`, { body });
    return [answer.status, answer.body.reason];
  };
  assert.deepEqual(await remove(), [403, 'Forbidden']);
  assert.equal((await api.post(CLASSES, { metadata: { name: NAME }, value: 2_000_001_000 })).status, 201);
  assert.deepEqual(await remove(), [403, 'Forbidden']);
  assert.equal((await api.send('DELETE', CLASSES)).status, 200);
  assert.equal((await api.get(`${CLASSES}/${NAME}`)).status, 404);
});
