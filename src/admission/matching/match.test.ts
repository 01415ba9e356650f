import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../machinery/object.js';
import type { MatchResources, NamedRuleWithOperations } from '../../schema/generated/admissionregistration.v1.js';
import { testAttributes, type TestWrite } from '../test-attributes.js';
import { criteriaOf, isFault, matchRequest } from './match.js';
import type { ResourceMatch } from './resource-match.js';
import { SeenRequest } from './seen-request.js';

const ALL: NamedRuleWithOperations = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };
const DEPLOYMENT = { resource: 'deployments.apps', kind: 'Deployment', object: { metadata: { name: 'web' } } };

/** True, false, or what the match itself says. */
async function match(write: TestWrite, resources: Partial<MatchResources>, equivalents: ResourceMatch[] = []) {
  const criteria = criteriaOf({ namespaceSelector: {}, objectSelector: {}, resourceRules: [ALL], ...resources });
  const served = {
    equivalentsOf: () => equivalents,
    convert: () => undefined,
    inVersion: (_: unknown, object: never) => object,
    encode: (_resource: unknown, _kind: unknown, object: object) => JSON.stringify(object),
    toStored: (_resource: unknown, _kind: unknown, tree: object) => tree as KubeObject,
    typeOf: () => undefined,
  };
  const matched = await matchRequest(criteria, new SeenRequest(testAttributes(write), served));
  return isFault(matched) ? { fault: matched.fault } : matched;
}
const matches = async (write: TestWrite, resources: Partial<MatchResources>): Promise<boolean> =>
  (await match(write, resources)) !== undefined;
const byRule = (write: TestWrite, rule: NamedRuleWithOperations): Promise<boolean> =>
  matches(write, { resourceRules: [{ ...ALL, ...rule }] });

describe('what a policy is for', () => {
  it('rules name operations, groups, versions and resources, or all of them', async () => {
    assert.equal(await byRule(DEPLOYMENT, {}), true);
    assert.equal(await byRule(DEPLOYMENT, { operations: ['UPDATE', 'CREATE'] }), true);
    assert.equal(await byRule(DEPLOYMENT, { operations: ['UPDATE'] }), false);
    assert.equal(await byRule(DEPLOYMENT, { apiGroups: ['apps'], apiVersions: ['v1'] }), true);
    assert.equal(await byRule(DEPLOYMENT, { apiGroups: [''] }), false);
    assert.equal(await byRule(DEPLOYMENT, { apiVersions: ['v1beta1'] }), false);
    assert.equal(await byRule(DEPLOYMENT, { resources: ['pods', 'deployments'] }), true);
    assert.equal(await byRule(DEPLOYMENT, { resources: ['pods'] }), false);
  });

  it('a resource without a subresource is the resource itself', async () => {
    const status = { ...DEPLOYMENT, subresource: 'status' };
    assert.equal(await byRule(status, { resources: ['deployments'] }), false);
    assert.equal(await byRule(status, { resources: ['*'] }), false);
    assert.equal(await byRule(status, { resources: ['deployments/status'] }), true);
    assert.equal(await byRule(status, { resources: ['deployments/*'] }), true);
    assert.equal(await byRule(status, { resources: ['*/status'] }), true);
    assert.equal(await byRule(DEPLOYMENT, { resources: ['deployments/*'] }), true);
  });

  it('a namespace is of the cluster, though requests for it are in it', async () => {
    const namespace = {
      resource: 'namespaces',
      kind: 'Namespace',
      namespace: 'ns',
      object: { metadata: { name: 'ns' } },
    };
    assert.equal(await byRule(namespace, { scope: 'Namespaced' }), false);
    assert.equal(await byRule(namespace, { scope: 'Cluster' }), true);
    assert.equal(await byRule(DEPLOYMENT, { scope: 'Namespaced' }), true);
    assert.equal(await byRule(DEPLOYMENT, { scope: 'Cluster' }), false);
  });

  it('names narrow a rule, and excluding rules take away', async () => {
    assert.equal(await byRule(DEPLOYMENT, { resourceNames: ['web'] }), true);
    assert.equal(await byRule(DEPLOYMENT, { resourceNames: ['other'] }), false);
    const excludeResourceRules = [{ ...ALL, resources: ['deployments'], resourceNames: ['web'] }];
    assert.equal(await matches(DEPLOYMENT, { excludeResourceRules }), false);
    assert.equal(await matches({ ...DEPLOYMENT, object: { metadata: { name: 'x' } } }, { excludeResourceRules }), true);
    assert.equal(await matches(DEPLOYMENT, { resourceRules: [] }), true);
  });

  it('the object is selected by its labels as they are or were', async () => {
    const objectSelector = { matchLabels: { app: 'web' } };
    const labelled = { metadata: { name: 'web', labels: { app: 'web' } } };
    const plain = { metadata: { name: 'web' } };
    assert.equal(await matches({ ...DEPLOYMENT, object: labelled }, { objectSelector }), true);
    assert.equal(await matches({ ...DEPLOYMENT, object: plain }, { objectSelector }), false);
    assert.equal(await matches({ ...DEPLOYMENT, object: plain, old: labelled }, { objectSelector }), true);
  });

  it('the namespace is selected by its labels, its own by those being written', async () => {
    const namespaceSelector = { matchLabels: { env: 'prod' } };
    const prod = { metadata: { name: 'ns', labels: { env: 'prod' } } };
    const world = { namespaces: [prod] };
    assert.equal(await matches({ ...DEPLOYMENT, world }, { namespaceSelector }), true);
    const other = { namespaces: [{ metadata: { name: 'ns' } }] };
    assert.equal(await matches({ ...DEPLOYMENT, world: other }, { namespaceSelector }), false);
    const own = { resource: 'namespaces', namespace: 'ns', object: prod, world: other };
    assert.equal(await matches(own, { namespaceSelector }), true);
    assert.equal(
      await matches({ resource: 'nodes', namespace: '', object: { metadata: {} } }, { namespaceSelector }),
      true,
    );
    assert.deepEqual(await match(DEPLOYMENT, { namespaceSelector }), { fault: 'namespaces "ns" not found' });
  });

  it('equivalent resources match unless the policy is exact', async () => {
    const beta = { group: 'apps', version: 'v1beta1', resource: 'deployments' };
    const equivalents = [{ resource: beta, kind: { group: 'apps', version: 'v1beta1', kind: 'Deployment' } }];
    const resourceRules = [{ ...ALL, apiVersions: ['v1beta1'] }];
    assert.deepEqual(
      await match(DEPLOYMENT, { matchPolicy: 'Equivalent', resourceRules }, equivalents),
      equivalents[0],
    );
    assert.equal(await match(DEPLOYMENT, { matchPolicy: 'Exact', resourceRules }, equivalents), undefined);
  });
});
