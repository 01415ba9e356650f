import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { MutationError, mutatedObject } from '../../admission/mutating-policy/mutated-object.js';
import { pods } from '../../apis/core/pod/definition.js';
import type { Mutation } from '../../cel/compiled-policy.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import type { KindDefinition } from '../../registry/kind.js';
import { InlineWorker } from '../testing/inline-worker.js';
import { servedResources } from '../admission/served-resources.js';
import { TestApi } from '../testing/test-api.js';

const matched = {
  resource: { group: '', version: 'v1', resource: 'pods' },
  kind: { group: '', version: 'v1', kind: 'Pod' },
};
const annotations = { large: 'x'.repeat(150_000) };
const LARGE = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'n', annotations },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};

let api: TestApi;
let workers: InlineWorker;

beforeEach(() => {
  workers = new InlineWorker();
  api = new TestApi({ kinds: [pods as unknown as KindDefinition], workers });
});

afterEach(() => api.resources.close());

async function resultOf(make: () => Promise<KubeObject | undefined> | KubeObject | undefined): Promise<unknown> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof MutationError) return { failed: error.message };
    assert.ok(error instanceof StatusError, String(error));
    return { code: error.code, message: error.message };
  }
}

const MUTATIONS: readonly Mutation[] = [
  { kind: 'apply-configuration', configuration: { metadata: { labels: { a: 'b' } } } },
  { kind: 'apply-configuration', configuration: { spec: { containers: [{ name: 'c', image: 'other' }] } } },
  { kind: 'apply-configuration', configuration: { spec: { containers: 5 } } },
  { kind: 'apply-configuration', configuration: { spec: { hostAliases: [{ ip: '1.2.3.4' }], tolerations: [{}] } } },
  { kind: 'json-patch', operations: [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }] },
  { kind: 'json-patch', operations: [{ op: 'test', path: '/metadata/name', value: 'z' }] },
  { kind: 'json-patch', operations: [{ op: 'remove', path: '/spec/nothing' }] },
  { kind: 'json-patch', operations: [{ op: 'add', path: '/spec/unknown', value: 1 }] },
  { kind: 'error', error: 'no such key' },
];

test('what a mutation makes of a large object is found out on a worker thread, and is the same', async () => {
  const served = servedResources(api.resources);
  for (const mutation of MUTATIONS) {
    const there = await resultOf(() => served.mutate?.(matched, LARGE, mutation, assert.fail));
    const here = await resultOf(() => mutatedObject(served, matched, LARGE as unknown as JsonObject, mutation));
    assert.deepEqual(there, here);
  }
  assert.deepEqual(
    workers.done,
    MUTATIONS.map(() => 'mutate'),
  );
});
