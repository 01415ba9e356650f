// What people who test operators miss on a bare API server: custom resources as owners and as contents of namespaces.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const GROUP = 'shop.example.test';
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `orders.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'orders', singular: 'order', kind: 'Order' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { count: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
};

interface Made {
  readonly metadata: { readonly name: string; readonly uid: string; readonly ownerReferences?: unknown[] };
}

describe('custom resources that own and are owned', { timeout: 60_000 }, () => {
  let server: TestServer;
  const orders = (namespace: string): string => `/apis/${GROUP}/v1/namespaces/${namespace}/orders`;
  const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

  before(async () => {
    server = await startTestServer({ flags: ['--controllers=namespace,garbagecollector'] });
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION);
    await pollUntil(async () => (await server.request('GET', orders('default'))).status === 200);
    for (const name of ['shop', 'other']) {
      await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
  });
  after(() => server.stop());

  async function create(to: string, object: object): Promise<Made> {
    const { status, body } = await server.request('POST', to, object);
    assert.equal(status, 201, body);
    return JSON.parse(body) as Made;
  }
  const order = (name: string, owner?: Made) => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'Order',
    metadata: { name, ...(owner !== undefined && { ownerReferences: [reference(owner)] }) },
    spec: { count: 1 },
  });
  const configMap = (name: string, owner: Made) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ownerReferences: [reference(owner)] },
  });
  const reference = ({ metadata: { name, uid } }: Made) => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'Order',
    name,
    uid,
    blockOwnerDeletion: true,
  });
  const isGone = async (path: string): Promise<boolean> => (await server.request('GET', path)).status === 404;

  it('what a deleted custom resource owns goes, custom or built in', async () => {
    const owner = await create(orders('shop'), order('one'));
    await create(orders('shop'), order('part', owner));
    await create(configMaps('shop'), configMap('settings', owner));
    await server.request('DELETE', `${orders('shop')}/one`);
    await pollUntil(() => isGone(`${orders('shop')}/part`));
    await pollUntil(() => isGone(`${configMaps('shop')}/settings`));
  });

  it('foreground deletion and orphaning hold for them, too', async () => {
    const first = await create(orders('shop'), order('first'));
    await create(orders('shop'), order('first-part', first));
    await server.request('DELETE', `${orders('shop')}/first?propagationPolicy=Foreground`);
    await pollUntil(() => isGone(`${orders('shop')}/first`));
    assert.ok(await isGone(`${orders('shop')}/first-part`), 'the part that blocks went before');

    const second = await create(orders('shop'), order('second'));
    await create(orders('shop'), order('second-part', second));
    await server.request('DELETE', `${orders('shop')}/second?propagationPolicy=Orphan`);
    await pollUntil(() => isGone(`${orders('shop')}/second`));
    const { body } = await server.request('GET', `${orders('shop')}/second-part`);
    assert.equal((JSON.parse(body) as Made).metadata.ownerReferences, undefined);
  });

  it('a namespace goes with the custom resources in it, and no others', async () => {
    await create(orders('shop'), order('last'));
    await create(orders('other'), order('stays'));
    await server.request('DELETE', '/api/v1/namespaces/shop');
    await pollUntil(() => isGone('/api/v1/namespaces/shop'));
    assert.ok(await isGone(`${orders('shop')}/last`));
    assert.equal((await server.request('GET', `${orders('other')}/stays`)).status, 200);
  });
});
