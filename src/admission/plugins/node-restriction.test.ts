import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Authorizer } from '../../authz/authorizer.js';
import { refusal, testAttributes, type TestWrite } from '../test-attributes.js';
import { nodeRestriction } from './node-restriction.js';

const none = { resourceRules: [], nonResourceRules: [], incomplete: false };
const denying: Authorizer = { authorize: () => ({ decision: 'no-opinion', reason: '' }), rulesFor: () => none };
const plugin = nodeRestriction(denying);
const user = { name: 'system:node:n1', groups: ['system:nodes'] };
const asNode = (write: TestWrite): Promise<string | undefined> => refusal(plugin, testAttributes({ user, ...write }));
const node = (labels: Record<string, string>, spec: object = {}): object => ({
  metadata: { name: 'n1', uid: 'u1', labels },
  spec,
});
const ownPod = { metadata: { name: 'p', uid: 'pu' }, spec: { nodeName: 'n1' } };
const world = { nodes: [node({})], pods: [ownPod] };

test('others than kubelets are not restricted', async () => {
  const write = { resource: 'nodes', object: node({ 'node-restriction.kubernetes.io/x': 'y' }) };
  assert.equal(await refusal(plugin, testAttributes(write)), undefined);
  const onlyName = { name: 'system:node:n2', groups: [] };
  assert.equal(await asNode({ ...write, user: onlyName }), undefined);
});

describe('nodes', () => {
  test('only its own', async () => {
    assert.equal(
      await asNode({ resource: 'nodes', name: 'n2', object: node({}) }),
      'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
    );
  });

  test('no labels others rely on, but those it reports about itself', async () => {
    const labels = {
      'kubernetes.io/hostname': 'n1',
      'pool.node.kubernetes.io/x': '1',
      'example.com/any': '1',
      'kubernetes.io/role': 'x',
      'x.node-restriction.kubernetes.io/y': 'z',
    };
    assert.equal(
      await asNode({ resource: 'nodes', object: node(labels) }),
      'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: kubernetes.io/role, x.node-restriction.kubernetes.io/y',
    );
    assert.equal(
      await asNode({ resource: 'nodes', old: node({ 'k8s.io/a': '1' }), object: node({}) }),
      'nodes "n1" is forbidden: is not allowed to modify labels: k8s.io/a',
    );
  });

  test('no taints', async () => {
    const object = node({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] });
    assert.match((await asNode({ resource: 'nodes', old: node({}), object })) ?? '', /not allowed to modify taints/);
  });
});

describe('pods', () => {
  const mirror = (spec: object, owner: object = {}): object => ({
    metadata: {
      name: 'm',
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true, ...owner }],
    },
    spec: { nodeName: 'n1', containers: [], ...spec },
  });
  const why = async (object: object): Promise<string> => (await asNode({ resource: 'pods', object, world })) ?? '';

  test('only mirror pods of its own, which point to nothing in the API', async () => {
    assert.equal(await why(mirror({})), '');
    assert.match(await why({ metadata: { name: 'm' }, spec: {} }), /can only create mirror pods/);
    assert.match(await why(mirror({ nodeName: 'n2' })), /spec.nodeName set to itself/);
    assert.match(await why(mirror({}, { uid: 'u2' })), /node n1 UID mismatch: expected u2 got u1/);
    assert.match(await why(mirror({}, { blockOwnerDeletion: true })), /must not set blockOwnerDeletion/);
    assert.match(await why(mirror({ serviceAccountName: 'sa' })), /reference serviceaccounts$/);
    const projected = { sources: [{ serviceAccountToken: { path: 'x' } }] };
    assert.match(await why(mirror({ volumes: [{ name: 'v', projected }] })), /\(via projected volumes\)$/);
    const env = [{ name: 'a', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    assert.match(await why(mirror({ containers: [{ name: 'c', env }] })), /reference secrets$/);
  });

  test('reports on and removes only what runs on it', async () => {
    const elsewhere = { metadata: { name: 'p' }, spec: { nodeName: 'n2' } };
    const status = { resource: 'pods', subresource: 'status', object: elsewhere, old: elsewhere };
    assert.match((await asNode(status)) ?? '', /can only update pod status for pods with spec.nodeName set to itself/);
    const remove = { resource: 'pods', operation: 'DELETE' as const, name: 'p' };
    assert.match((await asNode({ ...remove, world: { pods: [elsewhere] } })) ?? '', /can only delete pods/);
    assert.equal(await asNode({ ...remove, world }), undefined);
  });
});

describe('tokens', () => {
  const request = (spec: object): TestWrite => ({
    resource: 'serviceaccounts',
    subresource: 'token',
    name: 'sa',
    object: { metadata: {}, spec },
    world,
  });
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'pu' };

  test('bound to a pod it runs, for an audience the pod names', async () => {
    assert.match((await asNode(request({}))) ?? '', /token not bound to a pod/);
    const stale = request({ boundObjectRef: { ...boundObjectRef, uid: 'other' } });
    assert.match((await asNode(stale)) ?? '', /does not match the UID in record/);
    assert.equal(
      await asNode(request({ boundObjectRef, audiences: ['vault'] })),
      'serviceaccounts "sa" is forbidden: audience "vault" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
    );
    const volumes = [
      { name: 'v', projected: { sources: [{ serviceAccountToken: { audience: 'vault', path: 't' } }] } },
    ];
    const naming = { ...ownPod, spec: { nodeName: 'n1', volumes } };
    const write = { ...request({ boundObjectRef, audiences: ['vault'] }), world: { pods: [naming] } };
    assert.equal(await asNode(write), undefined);
    const driven = { ...ownPod, spec: { nodeName: 'n1', volumes: [{ name: 'v', csi: { driver: 'd' } }] } };
    assert.equal(
      await asNode({ ...request({ boundObjectRef, audiences: ['vault'] }), world: { pods: [driven] } }),
      'serviceaccounts "sa" is forbidden: error validating audience "vault": csidriver.storage.k8s.io "d" not found',
    );
  });
});

test('a kubelet renews its own lease only', async () => {
  const write = { resource: 'leases.coordination.k8s.io', object: { metadata: { name: 'n1' } } };
  assert.match((await asNode(write)) ?? '', /can only access leases in the "kube-node-lease" system namespace/);
  assert.equal(await asNode({ ...write, namespace: 'kube-node-lease' }), undefined);
  const other = { ...write, namespace: 'kube-node-lease', object: { metadata: { name: 'n2' } } };
  assert.match((await asNode(other)) ?? '', /same name as the requesting node/);
});
