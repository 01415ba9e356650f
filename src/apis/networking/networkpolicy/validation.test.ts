import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../../../machinery/field-error.js';
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '../../../schema/generated/networking.v1.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { TestApi } from '../../../server/testing/test-api.js';
import { networkPolicies } from './definition.js';
import { validateNetworkPolicy } from './validation.js';

const features = { enabled: () => false };

function errorsOf({ peer, port }: { peer?: NetworkPolicyPeer; port?: NetworkPolicyPort }): string[] {
  const object: NetworkPolicy = {
    metadata: { name: 'p' },
    spec: { podSelector: {}, ingress: [{ ...(peer && { from: [peer] }), ...(port && { ports: [port] }) }] },
  };
  networkPolicies.versions[0]?.defaults?.(object);
  return validateNetworkPolicy(object, features).map(fieldErrorText);
}

test('a peer is a selection or a block, not both and not nothing', () => {
  assert.deepEqual(errorsOf({ peer: { podSelector: {} } }), []);
  assert.deepEqual(errorsOf({ peer: {} }), ['spec.ingress[0].from[0]: Required value: must specify a peer']);
  assert.equal(errorsOf({ peer: { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } } }).length, 1);
});

test('exceptions lie inside their block', () => {
  const block = (...except: string[]) => ({ peer: { ipBlock: { cidr: '10.0.0.0/8', except } } });
  assert.deepEqual(errorsOf(block('10.1.0.0/16')), []);
  assert.match(errorsOf(block('10.0.0.0/8'))[0] ?? '', /must be a strict subset of `cidr`$/);
  assert.match(errorsOf(block('11.0.0.0/16'))[0] ?? '', /must be a strict subset of `cidr`$/);
});

test('a range of ports begins with a number and does not end before it', () => {
  assert.deepEqual(errorsOf({ port: { port: 80, endPort: 90 } }), []);
  assert.equal(errorsOf({ port: { port: 80, endPort: 70 } }).length, 1);
  assert.equal(errorsOf({ port: { port: 'http', endPort: 90 } }).length, 1);
  assert.equal(errorsOf({ port: { endPort: 90 } }).length, 1);
});

test('a list or map that is sent empty is a change each time', async () => {
  const api = new TestApi({ kinds: [networkPolicies as unknown as KindDefinition] });
  const path = '/apis/networking.k8s.io/v1/namespaces/n/networkpolicies';
  const policy = (podSelector: object): object => ({
    metadata: { name: 'p' },
    spec: { podSelector, policyTypes: [] },
  });
  const generation = async (podSelector: object): Promise<unknown> =>
    (await api.put(`${path}/p`, policy(podSelector))).body.metadata.generation;
  await api.post(path, policy({ matchLabels: {} }));
  assert.equal(await generation({}), 1);
  assert.equal(await generation({ matchLabels: {} }), 2);
  assert.equal(await generation({ matchLabels: {} }), 3);
});
