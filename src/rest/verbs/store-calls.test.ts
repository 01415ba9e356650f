// How often each verb asks a store that lies elsewhere: a call is a round trip to etcd.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { openMemoryStore } from '../../kv/memory.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../../server/testing/test-api.js';

const MAPS = '/api/v1/namespaces/a/configmaps';
const CALLS = ['get', 'range', 'revision', 'create', 'update', 'delete', 'compact'];
const MERGE = 'application/merge-patch+json';

/** A store that others write to as well, and what it was asked. */
function counted(): { readonly kv: KeyValueStore; readonly calls: string[] } {
  const calls: string[] = [];
  const kv = new Proxy(openMemoryStore(), {
    get(target, member) {
      if (member === 'local') return false;
      const own: unknown = Reflect.get(target, member, target);
      if (typeof own !== 'function') return own;
      return (...args: unknown[]) => {
        if (CALLS.includes(String(member))) calls.push(String(member));
        return Reflect.apply(own, target, args) as unknown;
      };
    },
  });
  return { kv, calls };
}

describe('a store elsewhere is asked', () => {
  const map = (name: string, value: string) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name },
    data: { value },
  });
  const apply = { fieldManager: 'test', force: 'true' };
  const applied = `${MAPS}/one?${new URLSearchParams(apply).toString()}`;
  const verbs: readonly (readonly [
    string,
    (api: TestApi) => Promise<{ readonly status: number }>,
    readonly string[],
  ])[] = [
    ['once by a create', (api) => api.post(MAPS, map('two', 'a')), ['create']],
    ['once by a create that finds the name in use', (api) => api.post(MAPS, map('one', 'a')), ['create']],
    ['once by a get, for its revision', (api) => api.get(`${MAPS}/one`), ['revision']],
    ['once by a list, for its revision', (api) => api.get(MAPS), ['revision']],
    ['never by a get of any version', (api) => api.get(`${MAPS}/one?resourceVersion=0`), []],
    ['once by an update', (api) => api.put(`${MAPS}/one`, map('one', 'b')), ['update']],
    ['once by a patch', (api) => api.patch(`${MAPS}/one`, MERGE, { data: { value: 'b' } }), ['update']],
    ['once by an apply', (api) => api.patch(applied, 'application/apply-patch+yaml', map('one', 'b')), ['update']],
    [
      'twice by an apply of what is new: others may have made what the cache lacks',
      (api) => api.patch(applied.replace('one', 'two'), 'application/apply-patch+yaml', map('two', 'b')),
      ['get', 'create'],
    ],
    ['once by a patch that changes nothing', (api) => api.patch(`${MAPS}/one`, MERGE, {}), ['revision']],
    ['once by an update that changes nothing', (api) => api.put(`${MAPS}/one`, map('one', 'a')), ['revision']],
    ['twice by a delete, which decides by what is there', (api) => api.delete(`${MAPS}/one`), ['revision', 'delete']],
  ];
  for (const [what, send, expected] of verbs) {
    it(what, async () => {
      const { kv, calls } = counted();
      const api = new TestApi({ kinds: [configMaps] as unknown as KindDefinition[], kv });
      assert.equal((await api.post(MAPS, map('one', 'a'))).status, 201);
      await api.get(MAPS);
      await api.advance(0);
      calls.length = 0;
      const { status } = await send(api);
      assert.ok(status < 300 || status === 409, String(status));
      assert.deepEqual(calls, expected);
    });
  }
});
