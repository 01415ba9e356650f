// Which versions of the API are there at each release that can be emulated.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionregistrationKinds } from '../../apis/admissionregistration/index.js';
import { certificatesKinds } from '../../apis/certificates/index.js';
import { coordinationKinds } from '../../apis/coordination/index.js';
import { flowcontrolKinds } from '../../apis/flowcontrol/index.js';
import { ipAddresses } from '../../apis/networking/ipaddress.js';
import { resourceKinds } from '../../apis/resource/index.js';
import { storageKinds } from '../../apis/storage/index.js';
import type { EmulatedApis } from '../../machinery/api-enablement.js';
import type { KindDefinition } from '../../registry/kind.js';
import { TestApi } from '../testing/test-api.js';

const nobody = {
  authorize: () => ({ decision: 'allow' as const, reason: '' }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
};
const kinds = [
  ...admissionregistrationKinds({ authorizer: nobody, resourceOf: () => undefined }),
  ...certificatesKinds({ authorizer: nobody }),
  ...coordinationKinds,
  ...flowcontrolKinds,
  ipAddresses,
  ...resourceKinds(),
  ...storageKinds,
] as readonly KindDefinition[];

const ALL = { 'api/all': 'true' };

function versionsOf(plural: string, minor: number, config = ALL, more: Partial<EmulatedApis> = {}): string {
  const emulated = { version: { major: 1, minor }, forwardCompatible: false, namedForwardCompatible: false, ...more };
  const api = new TestApi({ kinds, emulated, runtimeConfig: config });
  const served = [...api.resources.all()].filter(({ resource }) => resource.resource === plural);
  return served.map(({ resource }) => resource.version).join(' ');
}

describe('with every version turned on', () => {
  const TABLE: readonly [plural: string, at31: string, at32: string, at33: string, at34: string][] = [
    ['flowschemas', 'v1 v1beta3', 'v1', 'v1', 'v1'],
    ['prioritylevelconfigurations', 'v1 v1beta3', 'v1', 'v1', 'v1'],
    ['resourceclaims', '', 'v1beta1', 'v1beta2 v1beta1', 'v1 v1beta2 v1beta1'],
    ['devicetaintrules', '', '', 'v1alpha3', 'v1alpha3'],
    ['leasecandidates', '', 'v1alpha2', 'v1beta1 v1alpha2', 'v1beta1 v1alpha2'],
    ['ipaddresses', 'v1beta1', 'v1beta1', 'v1 v1beta1', 'v1 v1beta1'],
    ['volumeattributesclasses', 'v1beta1 v1alpha1', 'v1beta1 v1alpha1', 'v1beta1 v1alpha1', 'v1 v1beta1 v1alpha1'],
    ['clustertrustbundles', 'v1alpha1', 'v1alpha1', 'v1beta1 v1alpha1', 'v1beta1 v1alpha1'],
    ['podcertificaterequests', '', '', '', 'v1alpha1'],
    ['mutatingadmissionpolicies', '', 'v1alpha1', 'v1alpha1', 'v1beta1 v1alpha1'],
    ['validatingadmissionpolicies', 'v1 v1beta1', 'v1 v1beta1', 'v1 v1beta1', 'v1'],
  ];
  for (const [plural, ...expected] of TABLE) {
    it(plural, () => {
      const sorted = (text: string): string[] => text.split(' ').sort();
      for (const [at, versions] of expected.entries()) {
        assert.deepEqual(sorted(versionsOf(plural, 31 + at)), sorted(versions), `at 1.${31 + at}`);
      }
    });
  }
});

it('by default beta and alpha versions are not there, and a stable one only since it came', () => {
  assert.equal(versionsOf('resourceclaims', 34, {} as typeof ALL), 'v1');
  assert.equal(versionsOf('resourceclaims', 33, {} as typeof ALL), '');
  assert.equal(versionsOf('flowschemas', 31, {} as typeof ALL), 'v1');
});

it('forward compatible, what is there in a beta version is there in newer ones', () => {
  const beta = { 'resource.k8s.io/v1beta1': 'true' } as unknown as typeof ALL;
  assert.equal(versionsOf('resourceclaims', 32, beta), 'v1beta1');
  assert.deepEqual(versionsOf('resourceclaims', 32, beta, { forwardCompatible: true }).split(' ').sort(), [
    'v1',
    'v1beta1',
    'v1beta2',
  ]);
});

it('forward compatible by name, what a setting names is there whenever it came', () => {
  const named = { 'resource.k8s.io/v1': 'true' } as unknown as typeof ALL;
  assert.equal(versionsOf('resourceclaims', 32, named), '');
  assert.equal(versionsOf('resourceclaims', 32, named, { namedForwardCompatible: true }), 'v1');
});

it('a level without shares goes through v1beta3 and back', async () => {
  const emulated = { version: { major: 1, minor: 31 }, forwardCompatible: false, namedForwardCompatible: false };
  const api = new TestApi({ kinds, emulated, runtimeConfig: ALL });
  const at = (version: string): string => `/apis/flowcontrol.apiserver.k8s.io/${version}/prioritylevelconfigurations`;
  const level = (version: string, name: string, shares?: number) => ({
    apiVersion: `flowcontrol.apiserver.k8s.io/${version}`,
    kind: 'PriorityLevelConfiguration',
    metadata: { name },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Reject' } } },
  });
  const sharesOf = (body: unknown): unknown =>
    (body as { spec: { limited: { nominalConcurrencyShares?: number } } }).spec.limited.nominalConcurrencyShares;
  await api.post(at('v1'), level('v1', 'none', 0));
  const beta = await api.get(`${at('v1beta3')}/none`);
  assert.deepEqual(beta.body.metadata.annotations, {
    'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '',
  });
  assert.deepEqual(beta.warnings, [
    'flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration is deprecated in v1.29+, unavailable in v1.32+; use flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration',
  ]);
  const written = await api.put(`${at('v1beta3')}/none`, beta.body as object);
  assert.equal(written.status, 200);
  const back = await api.get(`${at('v1')}/none`);
  assert.equal(sharesOf(back.body), 0);
  assert.equal(back.body.metadata.annotations, undefined);
  assert.equal(sharesOf((await api.post(at('v1beta3'), level('v1beta3', 'unsaid'))).body), 30);
});
