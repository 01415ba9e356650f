// Updates that change nothing, again and again: the first is encoded, those after it are only compared.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { configMaps } from '../apis/core/configmap/definition.js';
import { TestApi } from '../server/testing/test-api.js';
import type { KindDefinition } from './kind.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const MERGE = 'application/merge-patch+json';

it('writes nothing for as long as nothing changes, and every change', async () => {
  const api = new TestApi({ kinds: [configMaps as unknown as KindDefinition] });
  const map = (data: Readonly<Record<string, string>>): object => ({ metadata: { name: 'a' }, data });
  const versionOf = ({ status, body }: Awaited<ReturnType<TestApi['get']>>): string => {
    assert.ok(status === 200 || status === 201, JSON.stringify(body));
    return body.metadata.resourceVersion ?? '';
  };
  const versions = [versionOf(await api.post(MAPS, map({ a: '1', b: '2' })))];
  for (const data of [{ b: '3' }, { b: null }]) {
    for (let again = 0; again < 3; again++) {
      const unchanged = [
        versionOf(await api.patch(`${MAPS}/a`, MERGE, {})),
        versionOf(await api.patch(`${MAPS}/a`, MERGE, { data: { none: null } })),
        versionOf(await api.put(`${MAPS}/a`, (await api.get(`${MAPS}/a`)).body)),
      ];
      assert.deepEqual(unchanged, [versions.at(-1), versions.at(-1), versions.at(-1)]);
    }
    versions.push(versionOf(await api.patch(`${MAPS}/a`, MERGE, { data })));
  }
  assert.equal(new Set(versions).size, 3);
  const reordered = await api.put(`${MAPS}/a`, map({ a: '1' }));
  assert.deepEqual([versionOf(reordered), reordered.body.data], [versions.at(-1), { a: '1' }]);
  const changed = await api.put(`${MAPS}/a`, map({ a: '2' }));
  assert.notEqual(versionOf(changed), versions.at(-1));
});
