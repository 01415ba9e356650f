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
