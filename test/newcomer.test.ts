// runs-on: every-node
// What a newcomer does first: `npm start`, and kubectl as its output says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Kubectl, kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';
import { startTestServer, type TestServer } from './support/server.js';

const program = kubectlProgram();

it('without a build, one line says how to build it', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-unbuilt-'));
  try {
    fs.mkdirSync(path.join(folder, 'bin'));
    fs.copyFileSync('bin/binnacle', path.join(folder, 'bin', 'binnacle'));
    const run = promisify(execFile)(process.execPath, [path.join(folder, 'bin', 'binnacle')]);
    await assert.rejects(run, {
      code: 1,
      stderr: /^\S+binnacle\.cjs is missing: run `npm ci` or `npm run build` first\n$/,
    });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

describe('a newcomer with kubectl', { skip: program === undefined && NO_KUBECTL, timeout: 60_000 }, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  before(async () => {
    server = await startTestServer({ npmStart: true });
    kubectl = kubectlWith(program ?? '', server.kubeconfig, server.folder);
  });
  after(() => server.stop());

  it('finds a server that is whole', async () => {
    const { out } = await kubectl('get namespaces -o name');
    assert.deepEqual(out.trim().split('\n'), [
      'namespace/default',
      'namespace/kube-node-lease',
      'namespace/kube-public',
      'namespace/kube-system',
    ]);
    assert.match((await kubectl('version')).out, /Server Version: v1\.34\./);
    assert.match((await kubectl('auth whoami')).out, /system:masters/);
  });

  it('finds it on this machine only', () => {
    const { port } = new URL(server.url);
    assert.match(server.log(), new RegExp(`Serving securely on 127\\.0\\.0\\.1:${port}\\n`));
  });

  it('can tell which build it has', async () => {
    const { serverVersion } = JSON.parse((await kubectl('version -o json')).out) as {
      serverVersion: { gitCommit: string; gitTreeState: string; buildDate: string };
    };
    assert.match(serverVersion.gitCommit, /^([0-9a-f]{40})?$/);
    assert.match(serverVersion.gitTreeState, serverVersion.gitCommit === '' ? /^$/ : /^(clean|dirty)$/);
    assert.ok(Date.parse(serverVersion.buildDate) > Date.parse('2020-01-01'), serverVersion.buildDate);
  });

  it('makes a namespace with a deployment in it', async () => {
    assert.equal((await kubectl('create namespace shop')).out, 'namespace/shop created\n');
    await kubectl('wait --for=create serviceaccount/default configmap/kube-root-ca.crt -n shop --timeout=10s');
    assert.equal((await kubectl('create deployment web --image=web:1 -n shop')).out, 'deployment.apps/web created\n');
    assert.match(
      (await kubectl('get deployments -n shop')).out,
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/1 /,
    );
    assert.equal((await kubectl('run pod --image=web:1 -n shop')).out, 'pod/pod created\n');
  });

  it('gives a service account a role, uses its token, and is refused what the role does not say', async () => {
    await kubectl('create serviceaccount robot -n shop');
    await kubectl('create role reader --verb=get,list --resource=pods,deployments.apps -n shop');
    await kubectl('create rolebinding robot-reads --role=reader --serviceaccount=shop:robot -n shop');
    const token = (await kubectl('create token robot -n shop')).out.trim();
    const kubeconfig = path.join(server.folder, 'robot.kubeconfig');
    const ca = fs.readFileSync(path.join(server.folder, 'pki', 'ca.crt'));
    fs.writeFileSync(kubeconfig, JSON.stringify(configOf(server.url, ca, token)));
    const robot = kubectlWith(program ?? '', kubeconfig, server.folder);

    assert.match((await robot('auth whoami -o yaml')).out, /username: system:serviceaccount:shop:robot/);
    assert.match((await robot('get pods')).out, /^pod +0\/1 +Pending /m);
    assert.equal(
      (await robot('delete pod pod', { code: 1 })).err,
      'Error from server (Forbidden): pods "pod" is forbidden: User "system:serviceaccount:shop:robot" cannot delete ' +
        'resource "pods" in API group "" in the namespace "shop"\n',
    );
    assert.match((await robot('get nodes', { code: 1 })).err, /at the cluster scope\n$/);
    assert.equal((await robot('auth can-i list deployments.apps')).out, 'yes\n');
    assert.equal((await robot('auth can-i create pods', { code: 1 })).out, 'no\n');
    const { out } = await robot('auth can-i --list');
    assert.match(out, /^pods +\[\] +\[\] +\[get list\]$/m);
    assert.match(out, /^deployments\.apps +\[\] +\[\] +\[get list\]$/m);
    assert.match(out, /^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    assert.match(out, /^ +\[\/healthz\] +\[\] +\[get\]$/m);

    // The role that looks into a whole namespace has its rules from the aggregation of others.
    await kubectl('create rolebinding robot-views --clusterrole=view --serviceaccount=shop:robot -n shop');
    await robot('get configmaps');
    await robot('get secrets', { code: 1 });
  });

  it('is refused with a token that is none', async () => {
    const kubeconfig = path.join(server.folder, 'nobody.kubeconfig');
    const ca = fs.readFileSync(path.join(server.folder, 'pki', 'ca.crt'));
    fs.writeFileSync(kubeconfig, JSON.stringify(configOf(server.url, ca, 'not-a-token')));
    const nobody = kubectlWith(program ?? '', kubeconfig, server.folder);
    const { err } = await nobody('get pods', { code: 1 });
    assert.match(err, /^error: You must be logged in to the server \(Unauthorized\)$/m);
  });

  it('deletes the namespace and sees it go with all that was in it', async () => {
    assert.equal((await kubectl('delete namespace shop --timeout=20s')).out, 'namespace "shop" deleted\n');
    assert.match(
      (await kubectl('get namespace shop', { code: 1 })).err,
      /\(NotFound\): namespaces "shop" not found\n$/,
    );
    assert.equal(
      (await kubectl('get all,sa,cm,roles,rolebindings -n shop')).err,
      'No resources found in shop namespace.\n',
    );
  });
});

const configOf = (server: string, ca: Buffer, token: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': ca.toString('base64') } }],
  users: [{ name: 'u', user: { token } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
  'current-context': 'x',
});
