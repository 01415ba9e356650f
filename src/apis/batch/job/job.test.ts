import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing/test-api.js';
import { jobs } from './definition.js';

const JOBS = '/apis/batch/v1/namespaces/n/jobs';
const open = (): TestApi => new TestApi({ kinds: [jobs as unknown as KindDefinition] });

interface Refused {
  readonly message: string;
  readonly details: { readonly causes: readonly { readonly field: string }[] };
}

interface Stored {
  readonly spec: { readonly podFailurePolicy: { readonly rules: unknown } };
}

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
  const bare = (await api.post(JOBS, job('c', {}, null))).body;
  assert.equal(bare.metadata.labels?.['job-name'], 'c', 'those that were generated');
});

test('an update reports the change of metadata after the errors of the job itself', async () => {
  const api = open();
  await api.post(JOBS, job('a'));
  const { body } = await api.put(`${JOBS}/a`, job('a', { labels: { app: 'Not Valid!_' } }));
  const fields = (body as unknown as Refused).details.causes.map(({ field }) => field);
  assert.deepEqual(fields.slice(0, 5), [
    'metadata.labels',
    'metadata.labels',
    'metadata.labels',
    'spec.selector',
    'spec.template.metadata.labels',
  ]);
  assert.equal(fields.filter((field) => field === 'metadata.labels').length, 4);
});

test('an empty list of rules is none once it is stored, and a list in an error', async () => {
  const api = open();
  const withRules = (rules: readonly object[]): object => {
    const made = job('a') as { spec: object };
    return { ...made, spec: { ...made.spec, podFailurePolicy: { rules } } };
  };
  const stored = (await api.post(`${JOBS}?dryRun=All`, withRules([]))).body as unknown as Stored;
  assert.equal(stored.spec.podFailurePolicy.rules, null);
  await api.post(JOBS, withRules([{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }]));
  const refused = (await api.put(`${JOBS}/a`, withRules([]))).body as unknown as Refused;
  assert.match(refused.message, /spec\.podFailurePolicy: Invalid value: \{"Rules":\[\]\}: field is immutable/);
});

test('deleting a job without a propagation policy warns that its pods stay', async () => {
  const api = open();
  const warning =
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';
  await api.post(JOBS, job('a'));
  assert.deepEqual((await api.delete(`${JOBS}/a?propagationPolicy=Orphan&dryRun=All`)).warnings, []);
  assert.deepEqual((await api.delete(`${JOBS}/a`, { orphanDependents: false, dryRun: ['All'] })).warnings, []);
  assert.deepEqual((await api.delete(`${JOBS}/a?dryRun=All`)).warnings, [warning]);
  assert.deepEqual((await api.delete(JOBS)).warnings, [warning]);
});

test('ready pods are compared with active ones where the status has them', async () => {
  const api = open();
  await api.post(JOBS, job('a'));
  const causes = async (status: object): Promise<readonly string[]> => {
    const { body } = await api.put(`${JOBS}/a/status`, { ...job('a'), status });
    return (body as unknown as Refused).details.causes.map(({ field }) => field);
  };
  assert.deepEqual(await causes({ active: -1 }), ['status.active']);
  assert.deepEqual(await causes({ active: -1, ready: 0 }), ['status.active', 'status.ready']);
});

test('failed indexes that cannot be read are shown as JSON, and as Go quotes them where they may not be', async () => {
  const api = open();
  await api.post(JOBS, job('a'));
  const indexed = job('b') as { spec: object };
  indexed.spec = { ...indexed.spec, completions: 2, completionMode: 'Indexed', backoffLimitPerIndex: 1 };
  await api.post(JOBS, indexed);
  const refused = async (name: string): Promise<string> => {
    const patch = {
      body: { status: { failedIndexes: '<1>' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    };
    return ((await api.send('PATCH', `${JOBS}/${name}/status`, patch)).body as unknown as Refused).message;
  };
  assert.match(await refused('a'), /failedIndexes: Invalid value: "<1>": cannot set non-null/);
  assert.match(await refused('b'), /failedIndexes: Invalid value: "\\u003c1\\u003e": error parsing/);
});
