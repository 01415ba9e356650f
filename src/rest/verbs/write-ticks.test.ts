// How many microtasks pass before a small write is answered: where nothing is waited for, each is a promise too many.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import { TestApi } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/a/configmaps';
const MERGE = 'application/merge-patch+json';

async function ticksOf(answering: Promise<{ readonly status: number }>): Promise<number> {
  let status = 0;
  void answering.then((answer) => {
    status = answer.status;
  });
  let ticks = 0;
  for (; status === 0 && ticks < 1000; ticks++) await Promise.resolve();
  assert.ok(status === 200 || status === 201, `answered ${status}`);
  return ticks;
}

describe('a small write of an object that is cached', () => {
  const map = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'one' }, data: { value: 'a' } };
  let sent = 0;
  const writes: readonly (readonly [string, (api: TestApi) => Promise<{ readonly status: number }>, number])[] = [
    ['a create', (api) => api.post(MAPS, { ...map, metadata: { generateName: 'new-' } }), 16],
    ['an update that changes nothing', (api) => api.put(`${MAPS}/one`, map), 13],
    ['a patch that changes nothing', (api) => api.patch(`${MAPS}/one`, MERGE, {}), 13],
    ['a patch', (api) => api.patch(`${MAPS}/one`, MERGE, { data: { value: String(++sent) } }), 18],
  ];
  for (const [what, write, most] of writes) {
    it(`takes at most ${most} microtasks as ${what}`, async () => {
      const admission = { admit: () => undefined, validate: () => undefined };
      const api = new TestApi({ kinds: [configMaps], admission });
      await api.post(MAPS, map);
      await write(api);
      const ticks = await ticksOf(write(api));
      assert.ok(ticks <= most, `${ticks}`);
    });
  }
});
