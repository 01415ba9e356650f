import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing.js';
import { daemonSets } from './definition.js';

const SETS = '/apis/apps/v1/namespaces/n/daemonsets';
const COUNT = 'deprecated.daemonset.template.generation';

test('changes of the template are counted, and whoever writes a status leaves the count', async () => {
  const api = new TestApi({ kinds: [daemonSets as unknown as KindDefinition] });
  const set = (image: string): object => ({
    metadata: { name: 'a' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image }] } },
    },
  });
  const countOf = ({ body }: Awaited<ReturnType<TestApi['put']>>): unknown => body.metadata.annotations?.[COUNT];
  assert.equal(countOf(await api.post(SETS, set('i'))), '1');
  assert.equal(countOf(await api.put(`${SETS}/a`, set('j'))), '2');
  assert.equal(countOf(await api.put(`${SETS}/a`, set('j'))), '2');
  assert.equal(countOf(await api.put(`${SETS}/a/status`, { ...set('k'), status: { numberReady: 1 } })), '2');
});

test('the count is none of the metadata that is asked for alone', async () => {
  const api = new TestApi({ kinds: [daemonSets as unknown as KindDefinition] });
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  };
  const accept = (kind: string): object => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
  const asked = async (path: string, kind: string): Promise<string> =>
    JSON.stringify((await api.get(path, accept(kind) as Record<string, string>)).body);
  await api.post(SETS, { metadata: { name: 'a' }, spec });
  await api.post(SETS, { metadata: { name: 'b', annotations: { mine: 'x' } }, spec });
  for (const text of [
    await asked(SETS, 'PartialObjectMetadataList'),
    await asked(SETS, 'Table'),
    await asked(`${SETS}/b`, 'PartialObjectMetadata'),
  ]) {
    assert.ok(text.includes('"annotations":{"mine":"x"}'), text);
    assert.ok(!text.includes(`"${COUNT}":"`), text);
  }
  assert.ok(!(await asked(`${SETS}/a`, 'PartialObjectMetadata')).includes('"annotations"'));
});
