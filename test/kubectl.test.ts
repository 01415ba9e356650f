// runs-on: every-node
// The commands people use every day, with the real kubectl.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Kubectl, kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';
import { startTestServer, type TestServer } from './support/server.js';

const program = kubectlProgram();
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1, ports: [{containerPort: 80}]}]}
`;
const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue, size: small}
`;

describe('kubectl', { skip: program === undefined && NO_KUBECTL, timeout: 120_000 }, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  before(async () => {
    server = await startTestServer({ flags: ['--controllers=namespace,serviceaccount'] });
    kubectl = kubectlWith(program ?? '', server.kubeconfig, server.folder);
    await kubectl('wait --for=create serviceaccount/default --timeout=10s');
  });
  after(() => server.stop());
  const file = (name: string, text: string): string => {
    fs.writeFileSync(path.join(server.folder, name), text);
    return name;
  };
  const jsonPath = async (what: string, where: string): Promise<string> =>
    (await kubectl(`get ${what} -o jsonpath=${where}`)).out;

  it('apply creates, leaves alone and configures', async () => {
    const name = file('web.yaml', DEPLOYMENT);
    assert.equal((await kubectl(`apply -f ${name}`)).out, 'deployment.apps/web created\n');
    assert.equal((await kubectl(`apply -f ${name}`)).out, 'deployment.apps/web unchanged\n');
    file(name, DEPLOYMENT.replace('web:1', 'web:2'));
    assert.equal((await kubectl(`apply -f ${name}`)).out, 'deployment.apps/web configured\n');
    assert.equal(await jsonPath('deployment/web', '{.spec.template.spec.containers[0].image}'), 'web:2');
    const refused = file('wrong.yaml', DEPLOYMENT.replace('replicas: 2', 'replicaz: 2'));
    assert.match((await kubectl(`apply -f ${refused}`, { code: 1 })).err, /unknown field "spec\.replicaz"/);
  });

  it('get prints tables, names and paths; describe shows the object', async () => {
    const { out } = await kubectl('get deployments -o wide');
    assert.match(
      out,
      /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +0\/2 +0 +0 +\S+ +web +web:2 +app=web\n$/,
    );
    assert.equal((await kubectl('get deploy -l app=web -o name')).out, 'deployment.apps/web\n');
    assert.match(
      (await kubectl('get deployment absent', { code: 1 })).err,
      /\(NotFound\): deployments\.apps "absent" not found/,
    );
    const described = (await kubectl('describe deployment web')).out;
    assert.match(described, /^Name: +web$/m);
    assert.match(described, /^Replicas: +2 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/m);
    assert.match(described, /^ +Image: +web:2$/m);
    assert.match((await kubectl('describe namespace default')).out, /^Status: +Active$/m);
  });

  it('create makes objects from words and refuses a second of the same name', async () => {
    assert.equal((await kubectl('create configmap made --from-literal=a=b')).out, 'configmap/made created\n');
    assert.match((await kubectl('create configmap made', { code: 1 })).err, /configmaps "made" already exists\n$/);
    assert.equal((await kubectl('create -f -', { input: CONFIG_MAP })).out, 'configmap/settings created\n');
    assert.equal((await kubectl('create service clusterip web --tcp=80')).out, 'service/web created\n');
    assert.match(await jsonPath('service/web', '{.spec.clusterIP}'), /^10\.0\.0\.\d+$/);
    const dry = (await kubectl('create secret generic dry --from-literal=a=b --dry-run=server -o yaml')).out;
    assert.match(dry, /^ +uid: /m);
    await kubectl('get secret dry', { code: 1 });
  });

  it('apply --server-side owns its fields, meets conflicts, and takes over by force', async () => {
    const applied = file('applied.yaml', CONFIG_MAP.replace('settings', 'ours'));
    assert.equal(
      (await kubectl(`apply --server-side --field-manager=one -f ${applied}`)).out,
      'configmap/ours serverside-applied\n',
    );
    file(applied, CONFIG_MAP.replace('settings', 'ours').replace('blue', 'red'));
    const { err } = await kubectl(`apply --server-side --field-manager=two -f ${applied}`, { code: 1 });
    assert.match(err, /conflict with "one": \.data\.color/);
    await kubectl(`apply --server-side --field-manager=two --force-conflicts -f ${applied}`);
    assert.equal(await jsonPath('configmap/ours', '{.data.color}'), 'red');
    const managers = (
      await kubectl('get configmap ours --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}')
    ).out;
    assert.equal(managers, 'one two');
  });

  it('edit sends what the editor changed', async () => {
    const editor = path.join(server.folder, 'editor');
    fs.writeFileSync(editor, '#!/bin/sh\nsed -i "s/color: blue/color: green/" "$1"\n', { mode: 0o755 });
    const { out } = await kubectl('edit configmap settings', { env: { KUBE_EDITOR: editor } });
    assert.equal(out, 'configmap/settings edited\n');
    assert.equal(await jsonPath('configmap/settings', '{.data.color}'), 'green');
    fs.writeFileSync(editor, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const same = await kubectl('edit configmap settings', { env: { KUBE_EDITOR: editor } });
    assert.match(same.out + same.err, /Edit cancelled, no changes made/);
  });

  it('patch works in its three forms', async () => {
    const container = '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:3"}]}}}}';
    assert.equal((await kubectl(`patch deployment web -p '${container}'`)).out, 'deployment.apps/web patched\n');
    assert.equal(await jsonPath('deployment/web', '{.spec.template.spec.containers[0].ports[0].containerPort}'), '80');
    await kubectl(`patch configmap settings --type=merge -p '{"data":{"size":null,"shape":"round"}}'`);
    assert.equal(await jsonPath('configmap/settings', '{.data}'), '{"color":"green","shape":"round"}');
    await kubectl(`patch configmap settings --type=json -p '[{"op":"replace","path":"/data/shape","value":"flat"}]'`);
    assert.equal(await jsonPath('configmap/settings', '{.data.shape}'), 'flat');
    const absent = `'[{"op":"test","path":"/data/shape","value":"round"}]'`;
    const { err } = await kubectl(`patch configmap settings --type=json -p ${absent}`, { code: 1 });
    assert.match(err, /the server rejected our request due to an error in our request/);
    assert.equal(
      (await kubectl(`patch configmap settings --type=merge -p '{"data":{"shape":"flat"}}'`)).out,
      'configmap/settings patched (no change)\n',
    );
  });

  it('label, annotate and scale change their part', async () => {
    assert.equal((await kubectl('label configmap settings tier=back')).out, 'configmap/settings labeled\n');
    assert.match(
      (await kubectl('label configmap settings tier=front', { code: 1 })).err,
      /already has a value \(back\)/,
    );
    await kubectl('label configmap settings tier=front --overwrite');
    assert.equal((await kubectl('get configmaps -l tier=front -o name')).out, 'configmap/settings\n');
    assert.equal((await kubectl('label configmap settings tier-')).out, 'configmap/settings unlabeled\n');
    assert.equal((await kubectl('annotate configmap settings note=yes')).out, 'configmap/settings annotated\n');
    assert.equal(await jsonPath('configmap/settings', '{.metadata.annotations.note}'), 'yes');
    assert.equal((await kubectl('scale deployment web --replicas=5')).out, 'deployment.apps/web scaled\n');
    assert.equal(await jsonPath('deployment/web', '{.spec.replicas}'), '5');
    assert.match(
      (await kubectl('scale deployment web --current-replicas=2 --replicas=1', { code: 1 })).err,
      /Expected replicas to be 2, was 5/,
    );
  });

  it('diff shows what an apply would change', async () => {
    const name = file('diff.yaml', DEPLOYMENT.replace('web:1', 'web:9').replace('replicas: 2', 'replicas: 5'));
    const { out } = await kubectl(`diff -f ${name}`, { code: 1 });
    const changes = out
      .split('\n')
      .filter((line) => /^[+-] /.test(line))
      .map((line) => line.replace(/\s+/g, ' '));
    assert.ok(changes.includes('- - image: web:3') && changes.includes('+ - image: web:9'), out);
    assert.equal(await jsonPath('deployment/web', '{.spec.template.spec.containers[0].image}'), 'web:3');
  });

  it('explain reads the documents the server publishes', async () => {
    const { out } = await kubectl('explain deployment.spec.replicas');
    assert.match(out, /^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: replicas <integer>\n/);
    assert.match((await kubectl('explain pods')).out, /^FIELDS:\n +apiVersion\t<string>\n/m);
    assert.match((await kubectl('explain pod.spec --recursive')).out, /^ +containers\t<\[\]Container> -required-$/m);
    assert.match((await kubectl('explain pod.nonsense', { code: 1 })).err, /field "nonsense" does not exist/);
  });

  it('api-resources and api-versions list what is served', async () => {
    const { out } = await kubectl('api-resources --api-group=apps -o wide');
    assert.match(
      out,
      /^deployments +deploy +apps\/v1 +true +Deployment +create,delete,deletecollection,get,list,patch,update,watch +all$/m,
    );
    const versions = (await kubectl('api-versions')).out.split('\n');
    for (const version of ['v1', 'apps/v1', 'rbac.authorization.k8s.io/v1'])
      assert.ok(versions.includes(version), version);
  });

  it('wait sees a condition come and an object go', async () => {
    await kubectl('run sleeper --image=sleep:1');
    const pending = kubectl(`wait pod/sleeper --for=jsonpath={.status.phase}=Running --timeout=20s`);
    await kubectl(`patch pod sleeper --subresource=status --type=merge -p '{"status":{"phase":"Running"}}'`);
    assert.equal((await pending).out, 'pod/sleeper condition met\n');
    const going = kubectl('wait pod/sleeper --for=delete --timeout=20s');
    assert.equal((await kubectl('delete pod sleeper')).out, 'pod "sleeper" deleted\n');
    await going;
  });

  it('logs and exec of a pod that runs nowhere are refused in words', async () => {
    await kubectl('run idle --image=idle:1');
    assert.equal(
      (await kubectl('exec idle -- ls', { code: 1 })).err,
      'Error from server (BadRequest): pod idle does not have a host assigned\n',
    );
    assert.equal((await kubectl('logs idle')).out, '');
    assert.match((await kubectl('logs idle -c absent', { code: 1 })).err, /container absent is not valid for pod idle/);
    assert.match((await kubectl('logs absent', { code: 1 })).err, /\(NotFound\): pods "absent" not found/);
  });

  it('delete takes names, selectors and all', async () => {
    await kubectl('create configmap one');
    await kubectl('create configmap two');
    await kubectl('label configmap one two kind=junk');
    const { out } = await kubectl('delete configmap -l kind=junk');
    assert.equal(out, 'configmap "one" deleted\nconfigmap "two" deleted\n');
    assert.equal((await kubectl('delete configmap one --ignore-not-found')).out, '');
    assert.match((await kubectl('delete configmap one', { code: 1 })).err, /\(NotFound\)/);
    await kubectl('delete deployment,pod --all');
    assert.equal((await kubectl('get deployments,pods')).err, 'No resources found in default namespace.\n');
  });
});
