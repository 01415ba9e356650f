// Coordinated leader election by two servers on one etcd.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { etcdPrograms } from './etcd-process.js';
import { type ControlPlane, startControlPlane } from './support/control-plane.js';
import type { TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const [etcdProgram] = etcdPrograms();
const skip = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';
const GROUP = '/apis/coordination.k8s.io';
const CANDIDATES = `${GROUP}/v1beta1/namespaces/default/leasecandidates`;

interface LeaseSpec {
  holderIdentity?: string;
  preferredHolder?: string;
  strategy?: string;
  renewTime?: string;
}

describe('coordinated leader election', { skip, timeout: 120_000 }, () => {
  let controlPlane: ControlPlane;
  let one: TestServer;
  let two: TestServer;
  before(async () => {
    controlPlane = await startControlPlane(etcdProgram?.program ?? '');
    const flags = [
      '--feature-gates=CoordinatedLeaderElection=true',
      '--runtime-config=coordination.k8s.io/v1beta1=true',
      '--coordinated-leadership-lease-duration=3s',
      '--coordinated-leadership-renew-deadline=2s',
      '--coordinated-leadership-retry-period=500ms',
    ];
    one = await controlPlane.start(flags);
    await pollUntil(
      () => lease(one, 'kube-system', 'leader-election-controller'),
      (spec) => spec !== undefined,
    );
    two = await controlPlane.start(flags);
  });
  after(() => controlPlane?.remove());

  const lease = async (server: TestServer, namespace: string, name: string): Promise<LeaseSpec | undefined> => {
    const { status, body } = await server.request('GET', `${GROUP}/v1/namespaces/${namespace}/leases/${name}`);
    return status === 404 ? undefined : (JSON.parse(body) as { spec: LeaseSpec }).spec;
  };
  const now = (): string => new Date().toISOString().replace('Z', '000Z');
  const stand = async (name: string, emulationVersion: string): Promise<void> => {
    const spec = { leaseName: 'work', binaryVersion: '1.34.0', emulationVersion, strategy: 'OldestEmulationVersion' };
    const { status, body } = await two.request('POST', CANDIDATES, {
      apiVersion: 'coordination.k8s.io/v1beta1',
      kind: 'LeaseCandidate',
      metadata: { name },
      spec: { ...spec, renewTime: now() },
    });
    assert.equal(status, 201, body);
  };
  /** Candidates that live answer every ping. */
  const electedWhileAnswering = (holder: string, ...names: string[]): Promise<LeaseSpec | undefined> =>
    pollUntil(
      async () => {
        const patch = { spec: { renewTime: now() } };
        for (const name of names) {
          await two.request('PATCH', `${CANDIDATES}/${name}`, patch, 'application/merge-patch+json');
        }
        return lease(two, 'default', 'work');
      },
      (spec) => spec?.holderIdentity === holder,
    );

  it('elects the candidate that behaves as the oldest release, and another when one comes that is older', async () => {
    await stand('newer', '1.34.0');
    await electedWhileAnswering('newer', 'newer');
    await stand('older', '1.33.0');
    // Until the lease is over its holder may release it.
    const pinged = await pollUntil(
      () => lease(two, 'default', 'work'),
      (spec) => spec?.holderIdentity === 'older' || spec?.preferredHolder === 'older',
    );
    assert.ok(pinged);
    await electedWhileAnswering('older', 'newer', 'older');
  });

  it('is done by one server, and by the other as soon as the first one ends', async () => {
    const held = await lease(two, 'kube-system', 'leader-election-controller');
    await one.stop();
    const next = await pollUntil(
      () => lease(two, 'kube-system', 'leader-election-controller'),
      (spec) => spec?.holderIdentity !== '' && spec?.holderIdentity !== held?.holderIdentity,
    );
    assert.ok(next?.holderIdentity);
    await two.request('DELETE', `${CANDIDATES}/older`);
    await electedWhileAnswering('newer', 'newer');
  });
});
