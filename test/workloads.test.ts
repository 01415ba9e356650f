// The stand-ins of workloads with the real kubectl, as a test of an operator meets them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { Cluster } from '../src/testkit/library/types.js';
import { kubectlProgram, NO_KUBECTL } from './support/kubectl.js';
import { testingLibrary } from './support/testing-library.js';

const program = kubectlProgram();
const FAILING_JOB = `
apiVersion: batch/v1
kind: Job
metadata: {name: bad, annotations: {testing.binnacle/outcome: fail}}
spec: {backoffLimit: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
`;

describe('the stand-ins of workloads', { timeout: 180_000, skip: program === undefined && NO_KUBECTL }, () => {
  let cluster: Cluster;
  before(async () => {
    const { startCluster } = await testingLibrary();
    cluster = await startCluster({ flags: ['--controllers=*,workloads'] });
  });
  after(() => cluster.stop());

  const kubectl = (...args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath };
      execFile(program ?? '', args, { env, encoding: 'utf8' }, (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`kubectl ${args.join(' ')}: ${err}`, { cause: error })),
      );
    });

  it('roll a deployment out, back, and to another number of pods', async () => {
    await kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=3');
    assert.match(await kubectl('rollout', 'status', 'deployment/web'), /successfully rolled out/);
    await kubectl('set', 'image', 'deployment/web', 'web=web:2');
    assert.match(await kubectl('rollout', 'status', 'deployment/web'), /successfully rolled out/);
    const images = () => kubectl('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.containers[*].image}');
    assert.equal(await images(), 'web:2 web:2 web:2');
    assert.match(await kubectl('rollout', 'history', 'deployment/web'), /^1 .*\n2 /m);
    await kubectl('rollout', 'undo', 'deployment/web');
    assert.match(await kubectl('rollout', 'status', 'deployment/web'), /successfully rolled out/);
    await kubectl('scale', 'deployment/web', '--replicas=1');
    await kubectl('wait', '--for=jsonpath={.status.replicas}=1', 'deployment/web');
    await kubectl('wait', '--for=condition=Ready', 'pod', '-l', 'app=web');
    await kubectl('delete', 'deployment', 'web', '--cascade=foreground');
    assert.equal(await images(), '');
  });

  it('complete a job, and fail one that says so', async () => {
    await kubectl('create', 'job', 'good', '--image=x');
    await kubectl('wait', '--for=condition=complete', 'job/good');
    await cluster.apply(FAILING_JOB);
    await kubectl('wait', '--for=condition=failed', 'job/bad');
    assert.equal(await kubectl('get', 'job', 'bad', '-o', 'jsonpath={.status.failed}'), '2');
  });

  it('end a pod that is deleted, and with it its namespace', async () => {
    await kubectl('create', 'namespace', 'shop');
    await kubectl('run', 'till', '--image=x', '-n', 'shop');
    await kubectl('wait', '--for=condition=Ready', 'pod/till', '-n', 'shop');
    await kubectl('delete', 'pod', 'till', '-n', 'shop');
    await kubectl('run', 'till', '--image=x', '-n', 'shop');
    await kubectl('delete', 'namespace', 'shop');
  });
});
