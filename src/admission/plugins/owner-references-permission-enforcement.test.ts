import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationAttributes, Authorizer } from '../../authz/authorizer.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.js';

const allowing = (may: (attributes: AuthorizationAttributes) => boolean): Authorizer => ({
  authorize: (attributes) => ({ decision: may(attributes) ? 'allow' : 'no-opinion', reason: 'why not' }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});
const plugin = (may: (attributes: AuthorizationAttributes) => boolean) =>
  ownerReferencesPermissionEnforcement({
    authorizer: allowing(may),
    resourceOf: ({ kind }) => (kind === 'ReplicaSet' ? { resource: 'replicasets', namespaced: true } : undefined),
  });
const owned = (kind: string, blockOwnerDeletion = false): object => ({
  metadata: { name: 'p', ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'rs', uid: 'u', blockOwnerDeletion }] },
});
const bare = { metadata: { name: 'p' } };

test('changing owners requires the right to delete', async () => {
  const attributes = testAttributes({ resource: 'pods', old: bare, object: owned('ReplicaSet') });
  const why = `pods "p" is forbidden: cannot set an ownerRef on a resource you can't delete: why not, <nil>`;
  assert.equal(
    await refusal(
      plugin(() => false),
      attributes,
    ),
    why,
  );
  assert.equal(
    await refusal(
      plugin(({ verb }) => verb === 'delete'),
      attributes,
    ),
    undefined,
  );
  const status = testAttributes({ resource: 'pods', subresource: 'status', old: bare, object: owned('ReplicaSet') });
  assert.equal(
    await refusal(
      plugin(() => false),
      status,
    ),
    undefined,
  );
});

test("blocking an owner's deletion takes the right to its finalizers", async () => {
  const create = (kind: string) => testAttributes({ resource: 'pods', object: owned(kind, true) });
  assert.match(
    (await refusal(
      plugin(() => false),
      create('ReplicaSet'),
    )) ?? '',
    /refers to a resource you can't set finalizers on: why not, <nil>$/,
  );
  const mayFinalize = plugin(
    ({ verb, apiGroup, resource, subresource, namespace, name }) =>
      [verb, apiGroup, resource, subresource, namespace, name].join() === 'update,apps,replicasets,finalizers,ns,rs',
  );
  assert.equal(await refusal(mayFinalize, create('ReplicaSet')), undefined);
  assert.match(
    (await refusal(mayFinalize, create('Gone'))) ?? '',
    /cannot find RESTMapping for APIVersion apps\/v1 Kind Gone: no matches for kind "Gone" in version "apps\/v1"$/,
  );
  assert.equal(
    await refusal(
      plugin(({ resource }) => resource === '*'),
      create('Gone'),
    ),
    undefined,
  );
});
