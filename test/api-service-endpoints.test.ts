// The endpoints of the API's own service, kept by several servers on one etcd.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { etcdPrograms } from './etcd-process.js';
import { type ControlPlane, startControlPlane } from './support/control-plane.js';
import type { TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const [etcdProgram] = etcdPrograms();
const skip = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';
const ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes';
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';

describe("the endpoints of the API's own service", { skip, timeout: 120_000 }, () => {
  let controlPlane: ControlPlane;
  beforeEach(async () => (controlPlane = await startControlPlane(etcdProgram?.program ?? '')));
  afterEach(() => controlPlane.remove());

  const start = (address: string, ...flags: string[]): Promise<TestServer> =>
    controlPlane.start([`--advertise-address=${address}`, ...flags]);
  const addresses = async (server: TestServer): Promise<string> => {
    const { body } = await server.request('GET', ENDPOINTS);
    const { subsets = [] } = JSON.parse(body) as { subsets?: { addresses: { ip: string }[] }[] };
    return subsets.flatMap((subset) => subset.addresses.map(({ ip }) => ip)).join();
  };
  const sliced = async (server: TestServer): Promise<string> => {
    const { body } = await server.request('GET', SLICE);
    const { endpoints } = JSON.parse(body) as { endpoints?: { addresses: string[] }[] | null };
    return (endpoints ?? []).flatMap((endpoint) => endpoint.addresses).join();
  };
  const become = async (server: TestServer, wanted: string): Promise<void> => {
    await pollUntil(
      () => addresses(server),
      (got) => got === wanted,
    );
    await pollUntil(
      () => sliced(server),
      (got) => got === wanted,
    );
  };

  it('with leases are all that are alive; one that ends in order is gone at once', async () => {
    const one = await start('10.9.0.1');
    const two = await start('10.9.0.2');
    await become(two, '10.9.0.1,10.9.0.2');
    await one.stop();
    assert.equal(await addresses(two), '10.9.0.2');
    assert.equal(await sliced(two), '10.9.0.2');
  });

  it('with master-count stay as many as were said, and one that ends in order takes its own away', async () => {
    const flags = ['--endpoint-reconciler-type=master-count', '--apiserver-count=2'];
    const one = await start('10.9.0.1', ...flags);
    await become(one, '10.9.0.1');
    const three = await start('10.9.0.3', ...flags);
    await become(one, '10.9.0.1,10.9.0.3');
    const two = await start('10.9.0.2', ...flags);
    await become(two, '10.9.0.1,10.9.0.2');
    await three.kill();
    await one.stop();
    assert.equal(await addresses(two), '10.9.0.2');
    assert.equal(await sliced(two), '10.9.0.2');
  });

  it('with none are left to others, at the start and at the end', async () => {
    const flags = ['--endpoint-reconciler-type=none'];
    const one = await start('10.9.0.1', ...flags);
    assert.equal((await one.request('GET', '/api/v1/namespaces/default/services/kubernetes')).status, 200);
    assert.equal((await one.request('GET', ENDPOINTS)).status, 404);
    const theirs = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'kubernetes' },
      subsets: [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 443 }] }],
    };
    assert.equal((await one.request('POST', '/api/v1/namespaces/default/endpoints', theirs)).status, 201);
    const two = await start('10.9.0.2', ...flags);
    await one.stop();
    assert.equal(await addresses(two), '10.9.0.1');
  });
});
