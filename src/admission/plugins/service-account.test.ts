import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../schema/generated/core.v1.js';
import { createChain } from '../chain.js';
import { refusal, testAttributes } from '../test-attributes.js';
import { serviceAccount } from './service-account.js';

test('the token is mounted cooperatively where containers are very many', async () => {
  const containers = Array.from({ length: 200_000 }, () => ({ name: 'c', image: 'i' }));
  const attributes = testAttributes({
    resource: 'pods',
    kind: 'Pod',
    object: {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'p', namespace: 'default' },
      spec: { containers },
    },
    world: { serviceaccounts: [{ metadata: { name: 'default', namespace: 'default' } }] },
  });
  const plugin = serviceAccount({ nameSuffix: () => 'abcde', wait: async () => undefined });
  let yields = 0;
  const counting = setInterval(() => yields++, 1);
  await createChain([plugin]).admit(attributes);
  clearInterval(counting);
  const { spec } = attributes.object as unknown as Pod;
  assert.equal(spec?.volumes?.[0]?.name, 'kube-api-access-abcde');
  assert.ok((spec.containers ?? []).every(({ volumeMounts }) => volumeMounts?.[0]?.name === 'kube-api-access-abcde'));
  assert.ok(yields > 1, String(yields));
});

test('an account by an invalid name is not looked up', async () => {
  const attributes = testAttributes({
    resource: 'pods',
    object: { metadata: { name: 'p' }, spec: { serviceAccountName: 'a/b', containers: [] } },
  });
  const why = await refusal(serviceAccount({ nameSuffix: () => 'abcde', wait: async () => undefined }), attributes);
  assert.match(
    why ?? '',
    /error looking up service account [^ ]+: invalid resource name "a\/b": \[may not contain '\/'\]$/,
  );
});
