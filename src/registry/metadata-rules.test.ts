import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronJobs } from '../apis/batch/cronjob/definition.js';
import { flowcontrolKinds } from '../apis/flowcontrol/index.js';
import { deployments } from '../apis/apps/deployment/definition.js';
import { configMaps } from '../apis/core/configmap/definition.js';
import { events } from '../apis/core/event/definition.js';
import { limitRanges } from '../apis/core/limitrange/definition.js';
import { replicationControllers } from '../apis/core/replicationcontroller/definition.js';
import { podDisruptionBudgets } from '../apis/policy/pod-disruption-budget.js';
import { storageClasses } from '../apis/storage/storage-class.js';
import { volumeAttributesClasses } from '../apis/storage/volume-attributes-class.js';
import { type Answer, TestApi } from '../server/testing/test-api.js';
import type { KindDefinition } from './kind.js';

const MERGE = 'application/merge-patch+json';
const CORE = '/api/v1/namespaces/n';
const NOT_QUALIFIED = 'Invalid value: "held": name is neither a standard finalizer name nor is it fully qualified';
const kinds = [
  ...flowcontrolKinds,
  configMaps,
  cronJobs,
  deployments,
  events,
  limitRanges,
  podDisruptionBudgets,
  storageClasses,
  volumeAttributesClasses,
  replicationControllers,
] as unknown as KindDefinition[];

const causesOf = ({ body }: Answer): string[] =>
  (body.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);

test('finalizers that an update adds are standard ones or have a domain', async () => {
  const api = new TestApi({ kinds });
  await api.post(`${CORE}/configmaps`, { metadata: { name: 'a' } });
  const held = { metadata: { finalizers: ['held'] } };
  const refused = await api.patch(`${CORE}/configmaps/a`, MERGE, held);
  assert.equal(refused.status, 422);
  // Its own rules look at the change, and then at all of it.
  const cause = `metadata.finalizers[0]: ${NOT_QUALIFIED}`;
  assert.deepEqual(causesOf(refused), [cause, cause]);
  await api.post(`${CORE}/limitranges`, { metadata: { name: 'a' }, spec: { limits: [] } });
  assert.deepEqual(causesOf(await api.patch(`${CORE}/limitranges/a`, MERGE, held)), [cause]);
  const standard = { metadata: { finalizers: ['orphan', 'x.io/y'] } };
  assert.equal((await api.patch(`${CORE}/configmaps/a`, MERGE, standard)).status, 200);
});

test('an error in the metadata of an update shows as often as rules look at it', async () => {
  const api = new TestApi({ kinds });
  const times = async (path: string, made: object): Promise<number> => {
    assert.equal((await api.post(path, made)).status, 201);
    return causesOf(await api.patch(`${path}/a`, MERGE, { metadata: { labels: { a: '!' } } })).length;
  };
  const metadata = { name: 'a' };
  const app = { matchLabels: { a: 'b' } };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  assert.equal(await times(`${CORE}/configmaps`, { metadata }), 4);
  assert.equal(await times(`${CORE}/limitranges`, { metadata, spec: { limits: [] } }), 3);
  const path = '/apis/apps/v1/namespaces/n/deployments';
  assert.equal(await times(path, { metadata, spec: { selector: app, template } }), 3);
  const budget = { metadata, spec: { minAvailable: 1, selector: app } };
  assert.equal(await times('/apis/policy/v1/namespaces/n/poddisruptionbudgets', budget), 2);
});

test('a status that leaves metadata as it was is not refused for what was sent of it', async () => {
  const api = new TestApi({ kinds });
  const bad = { metadata: { labels: { a: '!' }, finalizers: ['held'] } };
  const levels = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations';
  assert.equal(
    (
      await api.post(levels, {
        metadata: { name: 'a' },
        spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
      })
    ).status,
    201,
  );
  const accepted = await api.patch(`${levels}/a/status`, MERGE, bad);
  assert.deepEqual([accepted.status, accepted.body.metadata.labels], [200, undefined]);
  const jobs = '/apis/batch/v1/namespaces/n/cronjobs';
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  const spec = { schedule: '@daily', jobTemplate: { spec: { template } } };
  assert.equal((await api.post(jobs, { metadata: { name: 'a' }, spec })).status, 201);
  const refused = await api.patch(`${jobs}/a/status`, MERGE, bad);
  const fields = refused.body.details?.causes?.map(({ field }) => field);
  assert.deepEqual(fields, ['metadata.labels', 'metadata.labels'], 'whose own rules do not look at it');
});

test('rules that look at all of an object before they look at its change report errors in metadata in that order', async () => {
  const api = new TestApi({ kinds });
  const order = async (path: string, made: object): Promise<string[]> => {
    assert.equal((await api.post(path, { metadata: { name: 'a' }, ...made })).status, 201);
    const change = { metadata: { finalizers: ['held'], uid: 'other' }, parameters: { other: 'x' } };
    return (await api.patch(`${path}/a`, MERGE, change)).body.details?.causes?.map(({ field }) => field ?? '') ?? [];
  };
  const change = ['metadata.uid', 'metadata.finalizers[0]', 'parameters'];
  const all = ['metadata.uid', 'metadata.finalizers[0]', ...change];
  const path = '/apis/storage.k8s.io/v1';
  assert.deepEqual(await order(`${path}/storageclasses`, { provisioner: 'p' }), all);
  const attributes = { driverName: 'd', parameters: { a: 'b' } };
  assert.deepEqual(await order(`${path}/volumeattributesclasses`, attributes), [...all, 'metadata.finalizers[0]']);
});

test('an update that looks at metadata as of a new object requires a name as new objects have it', async () => {
  const api = new TestApi({ kinds });
  const generated = { metadata: { generateName: 'Not Valid!_' } };
  for (const path of [`${CORE}/configmaps`, `${CORE}/limitranges`]) {
    await api.post(path, { metadata: { name: 'a' } });
    const refused = await api.patch(`${path}/a`, MERGE, generated);
    assert.equal(refused.status, 422, path);
    assert.match(
      causesOf(refused).join(),
      /^metadata.generateName: Invalid value: "Not Valid!_": a lowercase RFC 1123 /,
    );
  }
  await api.post('/apis/policy/v1/namespaces/n/poddisruptionbudgets', { metadata: { name: 'a' }, spec: {} });
  const accepted = await api.patch('/apis/policy/v1/namespaces/n/poddisruptionbudgets/a', MERGE, generated);
  assert.equal(accepted.status, 200, 'whose rules look at its change only');
});

test('where no rule of a kind looks at metadata, its errors come last, and any finalizer is accepted', async () => {
  const api = new TestApi({ kinds });
  const metadata = { name: 'a', finalizers: ['bad finalizer'] };
  const event = { metadata, involvedObject: { namespace: 'n' } };
  const one = causesOf(await api.post(`${CORE}/events`, event));
  assert.deepEqual([one.length, one[0]?.startsWith('metadata.finalizers: Invalid value: "bad finalizer"')], [1, true]);
  const elsewhere = causesOf(await api.post(`${CORE}/events`, { ...event, involvedObject: { namespace: 'other' } }));
  assert.deepEqual(elsewhere, ['involvedObject.namespace: Invalid value: "other": does not match event.namespace']);
  const held = { ...event, metadata: { name: 'a', finalizers: ['held'] } };
  assert.equal((await api.post(`${CORE}/events`, held)).status, 201);
});

test('a replication controller is looked at as a new one, and then as a changed one', async () => {
  const api = new TestApi({ kinds });
  const path = `${CORE}/replicationcontrollers`;
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await api.post(path, { metadata: { name: 'a' }, spec: { template } });
  const empty = { metadata: { finalizers: [''] } };
  const fields = causesOf(await api.patch(`${path}/a`, MERGE, empty)).map((cause) => cause.split(':')[0]);
  const [list, item] = ['metadata.finalizers', 'metadata.finalizers[0]'];
  assert.deepEqual(fields, [list, list, list, list, item, item]);
});

test('a time of deletion that is none is one nevertheless, and an update cannot set it', async () => {
  const api = new TestApi({ kinds });
  await api.post(`${CORE}/configmaps`, { metadata: { name: 'a' } });
  const none = { name: 'a', deletionTimestamp: '0001-01-01T00:00:00Z' };
  const cause = 'metadata.deletionTimestamp: Invalid value: null: field is immutable';
  assert.deepEqual(causesOf(await api.put(`${CORE}/configmaps/a`, { metadata: none })), [cause, cause]);
  assert.deepEqual(causesOf(await api.patch(`${CORE}/configmaps/a`, MERGE, { metadata: none })), [cause, cause]);
  const apply = { apiVersion: 'v1', kind: 'ConfigMap', metadata: none };
  const applied = await api.patch(`${CORE}/configmaps/a?fieldManager=m`, 'application/apply-patch+yaml', apply);
  assert.deepEqual(causesOf(applied), [cause, cause]);
  assert.equal(
    (await api.put(`${CORE}/configmaps/a`, { metadata: { name: 'a', deletionTimestamp: null } })).status,
    200,
  );
});
