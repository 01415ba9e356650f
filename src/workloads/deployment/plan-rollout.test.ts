import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Deployment, ReplicaSet } from '../../schema/generated/apps.v1.js';
import { planRollout } from './plan-rollout.js';

const deployment = (replicas: number, strategy: object): Deployment =>
  ({ metadata: {}, spec: { replicas, strategy }, status: {} }) as unknown as Deployment;
const replicaSet = (name: string, replicas: number, availableReplicas: number): ReplicaSet =>
  ({ metadata: { name }, spec: { replicas }, status: { replicas, availableReplicas } }) as unknown as ReplicaSet;
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});
const plan = (of: Deployment, current: ReplicaSet, ...old: ReplicaSet[]) =>
  planRollout(of, current, old).map(({ replicaSet: { metadata }, replicas }) => `${metadata.name} ${replicas}`);

describe('planRollout', () => {
  it('goes up by the surge, then down by what is not missed', () => {
    const four = deployment(4, rolling(1, 1));
    assert.deepEqual(plan(four, replicaSet('new', 0, 0), replicaSet('old', 4, 4)), ['new 1']);
    assert.deepEqual(plan(four, replicaSet('new', 1, 0), replicaSet('old', 4, 4)), ['old 3']);
    assert.deepEqual(plan(four, replicaSet('new', 1, 0), replicaSet('old', 3, 3)), ['new 2']);
    assert.deepEqual(plan(four, replicaSet('new', 2, 0), replicaSet('old', 3, 3)), []);
    assert.deepEqual(plan(four, replicaSet('new', 2, 2), replicaSet('old', 3, 3)), ['old 1']);
    assert.deepEqual(plan(four, replicaSet('new', 4, 4), replicaSet('old', 0, 0)), []);
  });

  it('takes pods that are not available first', () => {
    const two = deployment(2, rolling(1, 0));
    assert.deepEqual(plan(two, replicaSet('new', 1, 1), replicaSet('sick', 1, 0), replicaSet('old', 1, 1)), ['sick 0']);
  });

  it('rounds a surge up and what may be missing down', () => {
    const three = deployment(3, rolling('25%', '25%'));
    assert.deepEqual(plan(three, replicaSet('new', 0, 0), replicaSet('old', 3, 3)), ['new 1']);
    assert.deepEqual(plan(three, replicaSet('new', 1, 0), replicaSet('old', 3, 3)), []);
    const one = deployment(1, rolling('0%', '0%'));
    assert.deepEqual(plan(one, replicaSet('new', 0, 0), replicaSet('old', 1, 1)), ['old 0']);
  });

  it('empties all others before it makes anything, where pods are recreated', () => {
    const recreated = deployment(2, { type: 'Recreate' });
    assert.deepEqual(plan(recreated, replicaSet('new', 0, 0), replicaSet('old', 2, 2)), ['old 0']);
    assert.deepEqual(plan(recreated, replicaSet('new', 0, 0), replicaSet('old', 0, 0)), ['new 2']);
  });
});
