import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing.js';
import { jobs } from './definition.js';

const JOBS = '/apis/batch/v1/namespaces/n/jobs';
const open = (): TestApi => new TestApi({ kinds: [jobs as unknown as KindDefinition] });

const job = (name: string, metadata: object = {}, labels: object | null = { app: 'x' }): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, ...metadata },
  spec: {
    template: {
      ...(labels && { metadata: { labels } }),
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    },
  },
});

test('a job without labels has those of its template, also those it finds its pods by', async () => {
  const api = open();
  const { status, body } = await api.post(JOBS, job('a'));
  assert.equal(status, 201);
  const uid = body.metadata.uid ?? '';
  assert.deepEqual(body.metadata.labels, {
    app: 'x',
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': 'a',
    'controller-uid': uid,
    'job-name': 'a',
  });
  const own = (await api.post(JOBS, job('b', { labels: { mine: 'y' } }))).body;
  assert.deepEqual(own.metadata.labels, { mine: 'y' });
  assert.equal((await api.post(JOBS, job('c', {}, null))).body.metadata.labels, undefined);
});

test('whoever deletes jobs without a word on their pods is told that they stay', async () => {
  const api = open();
  const warning =
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';
  await api.post(JOBS, job('a'));
  assert.deepEqual((await api.delete(`${JOBS}/a?propagationPolicy=Orphan&dryRun=All`)).warnings, []);
  assert.deepEqual((await api.delete(`${JOBS}/a`, { orphanDependents: false, dryRun: ['All'] })).warnings, []);
  assert.deepEqual((await api.delete(`${JOBS}/a?dryRun=All`)).warnings, [warning]);
  assert.deepEqual((await api.delete(JOBS)).warnings, [warning]);
});
