import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldErrorText } from '../../../machinery/field-error.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { validateClusterIpsUpdate } from './cluster-ip-validation.js';
import { setServiceDefaults } from './defaults.js';
import { dropTypeDependentFields } from './type-change.js';
import { validateService } from './validation.js';

const features: FeatureGates = { enabled: (name) => name === 'PreferSameTrafficDistribution' };

function service(spec: Partial<Service['spec']>): Service {
  const object: Service = {
    metadata: { name: 'web', namespace: 'ns' },
    spec: {
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ port: 80, targetPort: 0 }],
      ...spec,
    },
    status: { loadBalancer: {} },
  };
  setServiceDefaults(object);
  return object;
}

const errorsOf = (spec: Partial<Service['spec']>): string[] =>
  validateService(service(spec), undefined, features).map(fieldErrorText);

test('a plain service is valid', () => {
  assert.deepEqual(errorsOf({}), []);
});

test('the plural follows the singular and knows its families', () => {
  assert.deepEqual(errorsOf({ clusterIP: '10.0.0.2' }), [
    'spec.clusterIPs: Invalid value: ["10.0.0.1"]: first value must match `clusterIP`',
  ]);
  assert.deepEqual(errorsOf({ ipFamilies: ['IPv6'] }), [
    'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
  ]);
  assert.deepEqual(errorsOf({ clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] }), [
    'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value',
  ]);
});

test('of two stored addresses one may be invalid, which is reported', () => {
  const clusterIPs = ['10.0.0.1', 'None'];
  const old = service({ clusterIPs });
  assert.deepEqual(validateService(service({ clusterIPs }), old, features).map(fieldErrorText).slice(0, 2), [
    'spec.clusterIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: None',
    'spec.clusterIPs: Invalid value: ["10.0.0.1","None"]: may specify no more than one IP for each IP family',
  ]);
});

test('a port is there once for each protocol, with a name when there are several', () => {
  const ports = [
    { port: 80, targetPort: 80, name: 'a' },
    { port: 80, targetPort: 81 },
  ];
  assert.deepEqual(errorsOf({ ports }), [
    'spec.ports[1].name: Required value',
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  ]);
});

test('what only a load balancer has is forbidden to others', () => {
  const fields = validateService(
    service({
      loadBalancerClass: 'a.b/c',
      allocateLoadBalancerNodePorts: true,
      loadBalancerSourceRanges: [' 10.0.0.0/8 '],
    }),
    undefined,
    features,
  ).map(({ field }) => field);
  assert.deepEqual(fields, [
    'spec.LoadBalancerSourceRanges',
    'spec.allocateLoadBalancerNodePorts',
    'spec.loadBalancerClass',
  ]);
});

test('the first address never changes', () => {
  const old = service({});
  const changed = service({ clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] });
  assert.deepEqual(validateClusterIpsUpdate(changed, old).map(fieldErrorText), [
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
  ]);
});

test('a changed type loses what the server had filled in for the old one, and keeps what the client changed', () => {
  const old = service({ type: 'NodePort', ports: [{ port: 80, targetPort: 80, nodePort: 30000 }] });
  const plain = service({ type: 'ClusterIP', ports: [{ port: 80, targetPort: 80, nodePort: 30000 }] });
  plain.spec.externalTrafficPolicy = 'Cluster';
  dropTypeDependentFields(plain, old);
  assert.equal(plain.spec.ports?.[0]?.nodePort, undefined);
  assert.equal(plain.spec.externalTrafficPolicy, undefined);
  const other = service({ type: 'ClusterIP', ports: [{ port: 80, targetPort: 80, nodePort: 30001 }] });
  dropTypeDependentFields(other, old);
  assert.equal(other.spec.ports?.[0]?.nodePort, 30001);
});
