import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeatureGate } from '../../machinery/feature-gates.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import type { AuthorizationAttributes, AuthorizationResult } from '../authorizer.js';
import { nodeAuthorizer } from './authorizer.js';
import { NodeGraph, objectKey } from './graph.js';
import { referencesOf } from './pod-references.js';
import { volumeReferencesOf } from './volume-references.js';

const onNode: AuthorizationAttributes['fieldSelector'] = [{ field: 'spec.nodeName', operator: '=', value: 'n' }];

function setUp(off: readonly FeatureGate[] = []) {
  const graph = new NodeGraph();
  const rules = [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['services', 'pods'] }];
  const authorizer = nodeAuthorizer({ graph, rules, features: { enabled: (gate) => !off.includes(gate) } });
  const ask = (verb: string, resource: string, more: Partial<AuthorizationAttributes> = {}): string => {
    const { decision, reason } = authorizer.authorize({
      user: { name: 'system:node:n', groups: ['system:nodes'] },
      verb,
      resourceRequest: true,
      apiGroup: '',
      apiVersion: 'v1',
      resource,
      subresource: '',
      namespace: '',
      name: '',
      path: '',
      ...more,
    }) as AuthorizationResult;
    return decision === 'allow' ? decision : reason;
  };
  return { graph, ask };
}

test('only nodes with a name are judged', () => {
  const { ask } = setUp();
  assert.equal(ask('list', 'services', { user: { name: 'alice', groups: ['system:nodes'] } }), '');
  assert.equal(ask('list', 'services', { user: { name: 'system:node:n', groups: [] } }), '');
  assert.equal(
    ask('list', 'services', { user: { name: 'system:node:', groups: ['system:nodes'] } }),
    'unknown node for user "system:node:"',
  );
  assert.equal(ask('list', 'services'), 'allow');
  assert.equal(ask('list', 'deployments', { apiGroup: 'apps' }), '');
});

test('a secret is read by the node of a pod that refers to it, until the pod is gone', () => {
  const { graph, ask } = setUp();
  const secret = { namespace: 'a', name: 's' };
  const unrelated = "no relationship found between node 'n' and this object";
  assert.equal(ask('get', 'secrets', secret), unrelated);
  graph.setPod('a', 'p', 'n', new Set([objectKey('secret', 'a', 's')]));
  assert.equal(ask('get', 'secrets', secret), 'allow');
  assert.equal(ask('get', 'configmaps', secret), unrelated);
  assert.equal(ask('update', 'secrets', secret), 'can only read resources of this type');
  assert.equal(ask('list', 'secrets', { namespace: 'a' }), 'No Object name found');
  assert.equal(ask('list', 'secrets'), 'can only read namespaced object of this type');
  graph.removePod('a', 'p');
  assert.equal(ask('get', 'secrets', secret), unrelated);
});

test('pods are listed by node; without the gate they are for all nodes', () => {
  const { ask } = setUp();
  assert.equal(ask('list', 'pods'), 'can only list/watch pods with spec.nodeName field selector');
  assert.equal(ask('list', 'pods', { fieldSelector: onNode }), 'allow');
  assert.equal(ask('watch', 'pods', { user: { name: 'system:node:m', groups: ['system:nodes'] } }).length > 0, true);
  assert.equal(ask('update', 'pods', { subresource: 'status' }), 'allow');
  assert.equal(ask('update', 'pods', { subresource: 'ephemeralcontainers' }), '');
  const old = setUp(['AuthorizeNodeWithSelectors']);
  assert.equal(old.ask('list', 'pods'), 'allow');
  assert.equal(old.ask('list', 'resourceslices', { apiGroup: 'resource.k8s.io' }), 'allow');
});

test('a pod leads to all its spec names, a mirror pod to nothing, a volume to what nodes mount it with', () => {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'a' },
    spec: {
      containers: [
        { name: 'c', resources: {}, envFrom: [{ secretRef: { name: 's1' } }, { configMapRef: { name: 'm1' } }] },
      ],
      ephemeralContainers: [
        { name: 'e', resources: {}, env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's2', key: 'k' } } }] },
      ],
      serviceAccountName: 'robot',
      volumes: [
        { name: 'v', ephemeral: {} },
        { name: 'w', projected: { sources: [{ configMap: { name: 'm2' } }, { secret: { name: '' } }] } },
      ],
      resourceClaims: [
        { name: 'x', resourceClaimName: 'own' },
        { name: 'y', resourceClaimTemplateName: 't' },
        { name: 'z', resourceClaimTemplateName: 't' },
      ],
    },
    status: { resourceClaimStatuses: [{ name: 'y', resourceClaimName: 'made' }, { name: 'z' }] },
  };
  assert.deepEqual([...referencesOf(pod)].toSorted(), [
    'configmap a/m1',
    'configmap a/m2',
    'pvc a/p-v',
    'resourceclaim a/made',
    'resourceclaim a/own',
    'secret a/s1',
    'secret a/s2',
    'serviceaccount a/robot',
  ]);
  const annotations = { 'kubernetes.io/config.mirror': '' };
  assert.equal(referencesOf({ ...pod, metadata: { ...pod.metadata, annotations } }).size, 0);

  const claimRef = { namespace: 'a', name: 'c' };
  const controllerSecretRef = { namespace: 'x', name: 'controller' };
  const csi = {
    driver: 'd',
    volumeHandle: 'h',
    controllerPublishSecretRef: controllerSecretRef,
    nodeStageSecretRef: { namespace: 'x', name: 'stage' },
  };
  assert.equal(volumeReferencesOf({ spec: { csi } }), undefined);
  const references = volumeReferencesOf({ spec: { csi, claimRef } });
  assert.deepEqual([references?.claim, ...(references?.secrets ?? [])], ['pvc a/c', 'secret x/stage']);
  const iscsi = { targetPortal: 't', iqn: 'i', lun: 0, secretRef: { name: 'old' } };
  const old = volumeReferencesOf({ spec: { iscsi, claimRef } });
  assert.deepEqual([...(old?.secrets ?? [])], ['secret a/old']);
});
