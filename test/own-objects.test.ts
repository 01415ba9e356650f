// What the server makes itself in a new cluster has owners for what the server states, and for nothing that follows.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { startTestServer, type TestServer } from './support/server.js';

interface Owner {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: Record<string, Record<string, unknown>>;
}

interface Owned {
  readonly metadata: { readonly managedFields: readonly Owner[] };
  readonly spec: Record<string, unknown>;
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

describe('objects of the server itself', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const read = async (path: string): Promise<Owned | undefined> => {
    const { status, body } = await server.request('GET', path);
    return status === 200 ? (JSON.parse(body) as Owned) : undefined;
  };
  const present = (path: string, isWhole: (object: Owned) => boolean = () => true): Promise<Owned> =>
    pollUntil(async () => {
      const object = await read(path);
      return object !== undefined && isWhole(object) && object;
    });

  it('namespaces: not for the finalizer that all have', async () => {
    const { spec, metadata } = await present('/api/v1/namespaces/kube-public');
    assert.deepEqual(spec, { finalizers: ['kubernetes'] });
    assert.deepEqual(
      metadata.managedFields.map(({ fieldsV1 }) => Object.keys(fieldsV1)),
      [['f:metadata']],
    );
  });

  it("the API's service: not for the addresses and families that are worked out", async () => {
    const { spec, metadata } = await present('/api/v1/namespaces/default/services/kubernetes');
    assert.deepEqual([spec['clusterIPs'], spec['ipFamilies']], [['10.0.0.1'], ['IPv4']]);
    const owned = Object.keys(metadata.managedFields[0]?.fieldsV1['f:spec'] ?? {});
    assert.deepEqual(
      owned.filter((name) => /IP|Famil/i.test(name)),
      ['f:clusterIP', 'f:ipFamilyPolicy'],
    );
  });

  it('the service CIDR: its status is applied', async () => {
    const { metadata } = await present(
      '/apis/networking.k8s.io/v1/servicecidrs/kubernetes',
      ({ status }) => status.conditions?.[0]?.status === 'True',
    );
    assert.deepEqual(
      metadata.managedFields.map(({ manager, operation, subresource }) => [manager, operation, subresource]),
      [
        ['kubernetes-service-cidr-controller', 'Apply', 'status'],
        ['kube-apiserver', 'Update', undefined],
      ],
    );
  });
});
