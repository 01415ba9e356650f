import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing/test-api.js';
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

test('a count is a number of 64 bits, and refused as kube-apiserver refuses what it cannot convert', async () => {
  const api = new TestApi({ kinds: [daemonSets as unknown as KindDefinition] });
  const set = (name: string, count: string, image = 'i'): object => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, annotations: { [COUNT]: count } },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image }] } },
    },
  });
  const countOf = ({ body }: Awaited<ReturnType<TestApi['put']>>): unknown => body.metadata.annotations?.[COUNT];
  assert.equal(countOf(await api.post(SETS, set('a', '+09007199254740993'))), '9007199254740993');
  assert.equal(countOf(await api.put(`${SETS}/a`, set('a', '1', 'j'))), '9007199254740994');
  assert.equal((await api.post(SETS, set('c', String(2n ** 63n - 1n)))).status, 201);
  const round = await api.put(`${SETS}/c`, set('c', '1', 'j'));
  assert.match(
    round.body.message,
    /spec.templateGeneration: Invalid value: -9223372036854775808: must not be decremented/,
  );
  const why = 'strconv.ParseInt: parsing "x": invalid syntax';
  const created = await api.post(SETS, set('b', 'x'));
  assert.deepEqual(
    [created.status, created.body.message],
    [400, `DaemonSet in version "v1" cannot be handled as a DaemonSet: ${why}`],
  );
  const patched = async (type: string, body: object, name = 'a'): Promise<readonly unknown[]> => {
    const headers = { 'content-type': `application/${type}` };
    const answer = await api.send('PATCH', `${SETS}/${name}?fieldManager=m`, { body, headers });
    return [answer.status, answer.body.message];
  };
  const patch = { metadata: { annotations: { [COUNT]: 'x' } } };
  const [status, message] = await patched('merge-patch+json', patch);
  assert.equal(status, 422);
  assert.ok(String(message).endsWith(`: ${why}`), String(message));
  assert.deepEqual(await patched('strategic-merge-patch+json', patch), [500, why]);
  assert.deepEqual(await patched('apply-patch+yaml', set('new', 'x'), 'new'), [
    500,
    `failed to convert to unversioned (/new; apps/v1, Kind=DaemonSet): ${why}`,
  ]);
});

test('partial metadata leaves out the annotation of the count', async () => {
  const api = new TestApi({ kinds: [daemonSets as unknown as KindDefinition] });
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  };
  const accept = (kind: string): object => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
  const requestAs = async (path: string, kind: string): Promise<string> =>
    JSON.stringify((await api.get(path, accept(kind) as Record<string, string>)).body);
  await api.post(SETS, { metadata: { name: 'a' }, spec });
  await api.post(SETS, { metadata: { name: 'b', annotations: { mine: 'x' } }, spec });
  for (const text of [
    await requestAs(SETS, 'PartialObjectMetadataList'),
    await requestAs(SETS, 'Table'),
    await requestAs(`${SETS}/b`, 'PartialObjectMetadata'),
  ]) {
    assert.ok(text.includes('"annotations":{"mine":"x"}'), text);
    assert.ok(!text.includes(`"${COUNT}":"`), text);
  }
  assert.ok(!(await requestAs(`${SETS}/a`, 'PartialObjectMetadata')).includes('"annotations"'));
});
