import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../machinery/object.js';
import { StatusError } from '../../../machinery/status.js';
import type { ObjectOperations, ObjectUpdate, SubresourceAction } from '../../../registry/kind.js';
import type { PodDisruptionBudget } from '../../../schema/generated/policy.v1.js';
import type { StoredObject } from '../../../storage/store.js';
import { evictPod } from './eviction.js';
import { testContext, testPod } from './testing.js';

function scene(phase: string, budgets: readonly PodDisruptionBudget[]): { action: SubresourceAction; done: string[] } {
  const pod = testPod({}, { labels: { app: 'x' } });
  pod.status = { phase };
  const done: string[] = [];
  const operations = {
    get: async (resource: { resource: string }) => (resource.resource === 'pods' ? pod : budgets[0]),
    update: async ({ resource, name, subresource: endpoint, change }: ObjectUpdate) => {
      const changed = await change(structuredClone(resource.resource === 'pods' ? pod : (budgets[0] as KubeObject)));
      done.push(`update ${resource.resource}/${endpoint} ${name}`);
      return changed;
    },
    delete: async () => {
      done.push('delete');
      return pod;
    },
  } as unknown as ObjectOperations;
  const stored = budgets.map((budget) => ({ object: () => budget }) as unknown as StoredObject);
  const context = { ...testContext(), lookup: { get: async () => undefined, list: async () => stored } };
  const body = { metadata: { name: 'p', namespace: 'n' } };
  const audit = { annotate: () => undefined, review: () => undefined };
  return { action: { name: 'p', namespace: 'n', body, context, operations, ...audit }, done };
}

const budget = (disruptionsAllowed: number): PodDisruptionBudget => ({
  metadata: { name: 'pdb', generation: 1 },
  spec: { selector: { matchLabels: { app: 'x' } } },
  status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 },
});

test('a budget that allows it is charged before the pod goes', async () => {
  const { action, done } = scene('Running', [{ ...budget(1), status: { ...budget(1).status, currentHealthy: 0 } }]);
  assert.equal((await evictPod(action)).code, 201);
  assert.deepEqual(done, ['update poddisruptionbudgets/status pdb', 'update pods/status p', 'delete']);
});

test('the trace covers the read of the pod, and not the budget', async () => {
  const { action } = scene('Running', [{ ...budget(1), status: { ...budget(1).status, currentHealthy: 0 } }]);
  const { operations } = action;
  const trace = { span: undefined, calling: () => assert.fail('nobody is called') };
  const calls: [string, boolean][] = [];
  const watched: ObjectOperations = {
    ...operations,
    get(resource, namespace, name, given) {
      calls.push([`get ${resource.resource}`, given === trace]);
      return operations.get(resource, namespace, name);
    },
    update(update) {
      calls.push([`update ${update.resource.resource}`, update.context.trace === trace]);
      return operations.update(update);
    },
  };
  await evictPod({ ...action, operations: watched, context: { ...action.context, trace } });
  assert.deepEqual(calls, [
    ['get pods', true],
    ['update poddisruptionbudgets', false],
    ['update pods', true],
  ]);
});

test('a spent budget answers 429 with what it needs, and nothing is deleted', async () => {
  const spent = { ...budget(0), status: { ...budget(0).status, currentHealthy: 1 } };
  const { action, done } = scene('Running', [spent]);
  await assert.rejects(evictPod(action), (error) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.code, 429);
    assert.deepEqual(error.details?.causes, [
      { reason: 'DisruptionBudget', message: 'The disruption budget pdb needs 2 healthy pods and has 1 currently' },
    ]);
    return true;
  });
  assert.deepEqual(done, []);
});

test('pods that are not ready go without charge while enough others are well', async () => {
  const { action, done } = scene('Running', [budget(0)]);
  await evictPod(action);
  assert.deepEqual(done, ['update pods/status p', 'delete']);
});

test('a pending pod goes without asking any budget', async () => {
  const { action, done } = scene('Pending', [budget(0), budget(0)]);
  await evictPod(action);
  assert.deepEqual(done, ['update pods/status p', 'delete']);
});

test('two budgets for one pod are more than an eviction can honour', async () => {
  const { action, done } = scene('Running', [budget(5), budget(5)]);
  assert.equal((await evictPod(action)).code, 500);
  assert.deepEqual(done, []);
});

test('a request and its body must agree on dry run', async () => {
  const { action, done } = scene('Running', []);
  const body = { ...action.body, deleteOptions: { dryRun: ['None'] } };
  const evicting = evictPod({ ...action, body, context: { ...action.context, dryRun: true } });
  await assert.rejects(evicting, {
    code: 500,
    message: 'Non-matching dry-run options in request and content: [All] and [None]',
  });
  assert.deepEqual(done, []);
});

test('very many budgets are looked at cooperatively', async () => {
  const matchExpressions = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, operator: 'NotIn', values: ['v'] }));
  const wide = (i: number): PodDisruptionBudget => ({
    ...budget(1),
    spec: { selector: { matchExpressions: [...matchExpressions, { key: 'app', operator: 'In', values: [`y${i}`] }] } },
  });
  const { action } = scene(
    'Running',
    Array.from({ length: 300 }, (_, i) => wide(i)),
  );
  let others = 0;
  let isDone = false;
  const count = (): void => {
    others++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  assert.equal((await evictPod(action)).code, 201);
  isDone = true;
  assert.ok(others > 2, `${others} yields`);
});
