// runs-on: every-node
// Throwaway clusters by the library `binnacle/testing`, with real processes.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it, test } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { ControlClient } from '../src/testkit/library/control-client.js';
import type { Cluster, KubernetesObject } from '../src/testkit/library/types.js';
import { kubectlProgram, NO_KUBECTL } from './support/kubectl.js';
import { testingLibrary } from './support/testing-library.js';

const root = path.resolve(process.env['BINNACLE_ROOT'] ?? '.');
const kubectlFile = kubectlProgram();

const GREETINGS = `
apiVersion: example.test/v1
kind: Greeting
metadata: {name: sam, namespace: shop}
spec: {name: Sam}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greetings.example.test}
spec:
  group: example.test
  scope: Namespaced
  names: {plural: greetings, singular: greeting, kind: Greeting}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

describe('a throwaway cluster', { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    const { startCluster } = await testingLibrary();
    cluster = await startCluster({ manifests: GREETINGS });
  });
  after(() => cluster.stop());

  it('has applied its manifests, kinds before their objects', async () => {
    const response = await cluster.request('GET', '/apis/example.test/v1/namespaces/shop/greetings/sam');
    assert.equal(response.status, 200, response.text);
    assert.deepEqual(response.json<KubernetesObject>()['spec'], { name: 'Sam' });
  });

  it('waits until an object is there, is as wanted, and is gone', async () => {
    // The small controllers run: the account comes by itself.
    await cluster.waitFor({ apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'shop', name: 'default' }, 'create');
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'late' };
    const created = cluster.waitFor<KubernetesObject & { data?: { a?: string } }>(
      reference,
      ({ data }) => data?.a === '2',
    );
    for (const a of ['1', '2']) {
      await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { a } });
    }
    assert.equal((await created)?.metadata?.namespace, 'default');
    const deleted = cluster.waitFor(reference, 'delete');
    assert.equal((await cluster.request('DELETE', '/api/v1/namespaces/default/configmaps/late')).status, 200);
    assert.equal(await deleted, undefined);
  });

  it('says what was seen last when waiting is in vain', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: 'greetings.example.test',
    };
    await cluster.waitFor(crd, 'condition=Established');
    await assert.rejects(
      cluster.waitFor(crd, 'condition=Established=False', { timeoutMs: 1 }),
      /CustomResourceDefinition greetings\.example\.test: condition=Established=False did not hold within 1 ms/,
    );
    await assert.rejects(
      cluster.waitFor({ apiVersion: 'example.test/v1', kind: 'Farewell', name: 'x' }, 'create'),
      /the cluster serves no kind Farewell in example\.test\/v1/,
    );
  });

  it('refuses manifests in the words of the server', async () => {
    await assert.rejects(
      cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Wrong Name' } }),
      /^Error: apply ConfigMap Wrong Name: 422: ConfigMap "Wrong Name" is invalid: metadata\.name: /,
    );
  });

  it('lists every request that was answered', async () => {
    await cluster.request('GET', '/api/v1/namespaces/default/secrets/looked-for');
    const found = (await cluster.audit()).filter(({ requestURI }) => requestURI.endsWith('/looked-for'));
    assert.deepEqual(
      found.map(({ verb, user, responseStatus }) => [verb, user.username, responseStatus?.code]),
      [['get', 'admin', 404]],
    );
  });

  it(
    'serves the real kubectl, also one that this process waits for',
    { skip: kubectlFile === undefined && NO_KUBECTL },
    () => {
      const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath };
      assert.equal(
        execFileSync(kubectlFile ?? '', ['get', 'greetings', '-n', 'shop', '-o', 'name'], { env, encoding: 'utf8' }),
        'greeting.example.test/sam\n',
      );
    },
  );

  it('is not alone: others have objects, keys and accounts of their own', async () => {
    const { startCluster } = await testingLibrary();
    const [second, third] = await Promise.all([startCluster({ auditLevel: 'None' }), startCluster()]);
    const url = '/apis/example.test/v1/greetings';
    assert.deepEqual(
      (await Promise.all([cluster, second, third].map((one) => one.request('GET', url)))).map(({ status }) => status),
      [200, 404, 404],
    );
    const foreign = await second.request('GET', '/api/v1/namespaces', undefined, {
      authorization: `Bearer ${third.token}`,
    });
    assert.equal(foreign.status, 401);
    assert.notEqual(second.ca, third.ca);
    assert.deepEqual(await second.audit(), []);
    await second.stop();
    await second.stop();
    await assert.rejects(second.request('GET', '/version'), /ECONNREFUSED/);
    assert.equal(fs.existsSync(second.kubeconfigPath), false);
    assert.equal((await third.request('GET', '/version')).status, 200);
    await third[Symbol.asyncDispose]();
  });

  it('is the version it is asked to be, and tells what is wrong with its flags', async () => {
    const { startCluster } = await testingLibrary();
    const old = await startCluster({ emulatedVersion: '1.33' });
    assert.equal((await old.request('GET', '/version')).json<{ emulationMinor: string }>().emulationMinor, '33');
    await old.stop();
    await assert.rejects(startCluster({ flags: ['--no-such-flag'] }), /unknown flag: --no-such-flag/);
    await assert.rejects(
      startCluster({ flags: ['--min-request-timeout=-1'] }),
      /--min-request-timeout can not be negative value/,
    );
    await assert.rejects(startCluster({ manifests: { path: path.join(root, 'no-such-folder') } }), /ENOENT/);
  });

  it('is stopped at once while watches are open', async () => {
    const { startCluster } = await testingLibrary();
    const watched = await startCluster();
    const waiting = watched.waitFor({ apiVersion: 'v1', kind: 'ConfigMap', name: 'never' }, 'create');
    await pollUntil(async () =>
      (await watched.request('GET', '/metrics')).text.includes('apiserver_longrunning_requests{'),
    );
    await Promise.all([watched.stop(), assert.rejects(waiting)]);
  });
});

describe('a state of a throwaway cluster', { timeout: 120_000 }, () => {
  const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
  let cluster: Cluster;
  before(async () => {
    const { startCluster } = await testingLibrary();
    cluster = await startCluster({ auditLevel: 'None' });
    for (const name of ['stays', 'changed', 'deleted']) await put(cluster, name, '1');
    // What comes by itself after the start is there, so that it is in the state.
    for (const [kind, name] of [
      ['ServiceAccount', 'default'],
      ['ConfigMap', 'kube-root-ca.crt'],
    ] as const) {
      for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
        await cluster.waitFor({ apiVersion: 'v1', kind, namespace, name }, 'create');
      }
    }
  });
  after(() => cluster.stop());

  async function put(on: Cluster, name: string, a: string): Promise<void> {
    await on.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a } });
  }
  const get = async (on: Cluster): Promise<Record<string, string>> => {
    const { items } = (await on.request('GET', CONFIG_MAPS)).json<{
      items: { metadata: { name: string }; data: { a?: string } }[];
    }>();
    return Object.fromEntries(
      items.flatMap(({ metadata, data }) => (data.a === undefined ? [] : [[metadata.name, data.a]])),
    );
  };
  const change = async (on: Cluster): Promise<void> => {
    await put(on, 'changed', '2');
    await put(on, 'new', '1');
    await on.request('DELETE', `${CONFIG_MAPS}/deleted`);
  };

  it('is brought back, and whoever watches hears of it as of any change', async () => {
    const marked = await cluster.snapshot();
    await change(cluster);
    const seen: string[] = [];
    const again = new AbortController();
    const heard = watchEvents(
      cluster,
      CONFIG_MAPS,
      (event) => {
        seen.push(event);
        if (seen.length === 3) again.abort();
      },
      again.signal,
    );
    const { changes } = await cluster.reset(marked);
    await heard;
    assert.deepEqual(seen, ['MODIFIED changed 1', 'ADDED deleted 1', 'DELETED new 1']);
    assert.ok(changes >= 3, String(changes));
    assert.deepEqual(await get(cluster), { stays: '1', changed: '1', deleted: '1' });
    // A version that a client knows from before is not the newest any more.
    const stale = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'changed', resourceVersion: marked.resourceVersion },
    };
    assert.equal((await cluster.request('PUT', `${CONFIG_MAPS}/changed`, stale)).status, 409);
  });

  it('is brought back with kinds, their objects and what is watched of them', async () => {
    const empty = await cluster.snapshot();
    await cluster.apply(GREETINGS);
    const full = await cluster.snapshot();
    const greeting = { apiVersion: 'example.test/v1', kind: 'Greeting', namespace: 'shop', name: 'sam' };
    await cluster.reset(empty);
    await pollUntil(async () => (await cluster.request('GET', '/apis/example.test/v1')).status === 404);
    assert.equal((await cluster.request('GET', '/api/v1/namespaces/shop')).status, 404);
    await cluster.reset(full);
    await pollUntil(async () => (await cluster.request('GET', '/apis/example.test/v1')).status === 200);
    assert.ok(await cluster.waitFor(greeting, 'create'));
    await cluster.reset(empty);
  });

  it('begins another cluster, with the accounts and tokens of the first, which goes its own way', async () => {
    const requested = await cluster.request('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    });
    const { token } = requested.json<{ status: { token: string } }>().status;
    const marked = await cluster.snapshot();
    await change(cluster);
    const [fork, ofNow] = await Promise.all([cluster.fork(marked), cluster.fork()]);
    assert.deepEqual(await get(fork), { stays: '1', changed: '1', deleted: '1' });
    assert.deepEqual(await get(ofNow), { stays: '1', changed: '2', new: '1' });
    await put(fork, 'stays', 'fork');
    assert.equal((await get(cluster))['stays'], '1');
    const as = { authorization: `Bearer ${token}` };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const who = await fork.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review, as);
    assert.equal(who.status, 201, who.text);
    await assert.rejects(fork.reset(marked), /the cluster has no snapshot /);
    await Promise.all([fork.stop(), ofNow.stop()]);
  });
});

describe('a throwaway cluster with faults', { timeout: 120_000 }, () => {
  const MAPS = '/api/v1/namespaces/default/configmaps';
  let cluster: Cluster;
  before(async () => {
    const { startCluster } = await testingLibrary();
    cluster = await startCluster({
      faults: {
        rules: [
          { fault: 'error', code: 429, retryAfterSeconds: 3, verbs: ['list'], resources: ['configmaps'], times: 1 },
        ],
      },
    });
  });
  after(() => cluster.stop());

  it('has those that it was started with, and lists them with the requests that they hit', async () => {
    const refused = await cluster.request('GET', MAPS);
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '3']);
    assert.equal((await cluster.request('GET', MAPS)).status, 200);
    assert.deepEqual((await cluster.faults()).hits, [1]);
    const lists = (await cluster.audit()).filter(({ requestURI }) => requestURI === MAPS);
    assert.deepEqual(
      lists.map(({ responseStatus, annotations }) => [responseStatus?.code, annotations?.['testing.binnacle/fault']]),
      [
        [429, 'rule 0: error 429'],
        [200, undefined],
      ],
    );
  });

  it('loses the answer to a write that was done, and leaves what sets a test up alone', async () => {
    await cluster.setFaults({ rules: [{ fault: 'error', code: 504, after: true, verbs: ['create', 'patch'] }] });
    assert.equal((await cluster.request('POST', MAPS, { metadata: { name: 'lost' } })).status, 504);
    await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'setup' } });
    await cluster.setFaults({});
    assert.equal((await cluster.request('GET', `${MAPS}/lost`)).status, 200);
  });

  it('lists a past state to who accepts one, and drops watches', async () => {
    const names = async (query: string): Promise<string[]> => {
      const { items } = (await cluster.request('GET', `${MAPS}${query}`)).json<{
        items: { metadata: { name: string } }[];
      }>();
      return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('new-'));
    };
    await cluster.setFaults({ rules: [{ fault: 'stale-list', behind: 1_000_000 }, { fault: 'drop-watch' }] });
    for (const name of ['new-1', 'new-2'])
      await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    assert.deepEqual(await names(''), ['new-1', 'new-2']);
    // As long ago as is known: nothing was there.
    assert.deepEqual(await names('?resourceVersion=0'), []);
    const dropped = await cluster.request('GET', `${MAPS}?watch=1`);
    assert.equal(dropped.status, 200);
    await cluster.setFaults({});
  });

  it('refuses rules that it does not know', async () => {
    await assert.rejects(
      cluster.setFaults({ rules: [{ fault: 'error', code: 404 as 409 }] }),
      /rules\[0\]\.code must be one of/,
    );
  });
});

/** Resolves when the signal aborts; `event` is called with `TYPE name data.a`. */
async function watchEvents(on: Cluster, at: string, event: (text: string) => void, signal: AbortSignal): Promise<void> {
  const { metadata } = (await on.request('GET', at)).json<{ metadata: { resourceVersion: string } }>();
  const options = { ca: on.ca, headers: { authorization: `Bearer ${on.token}` }, signal };
  await new Promise<void>((resolve, reject) => {
    const url = `${on.url}${at}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    https
      .get(url, options, (response) => {
        response.on('error', () => resolve());
        const lines = createInterface({ input: response }).on('error', () => resolve());
        lines.on('line', (line) => {
          const { type, object } = JSON.parse(line) as {
            type: string;
            object: { metadata: { name: string }; data: { a: string } };
          };
          event(`${type} ${object.metadata.name} ${object.data.a}`);
        });
      })
      .on('error', (error) => (signal.aborted ? resolve() : reject(error)));
  });
}

test('the control socket is asked on one connection, as often as there is something to ask', async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-control-'));
  let connections = 0;
  const server = http.createServer((request, response) => request.resume().on('end', () => response.end('{}')));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'control.sock'), resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
    fs.rmSync(folder, { recursive: true });
  });
  const control = new ControlClient(path.join(folder, 'control.sock'));
  for (let i = 0; i < 3; i++) await control.send('POST', '/v1/clusters/c1/snapshots');
  assert.equal(connections, 1);
});

test('any language has clusters by HTTP and JSON on the control socket', { timeout: 120_000 }, async (context) => {
  const child = spawn(path.join(root, 'bin', 'binnacle'), ['serve-clusters'], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const line = await new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const ready = JSON.parse(line) as { control: string; pid: number };
  const send = async (method: string, at: string, body?: unknown): Promise<[number, Record<string, unknown>]> =>
    new Promise((resolve, reject) => {
      const request = http.request({ socketPath: ready.control, method, path: at, agent: false }, (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString()));
        response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(text) as Record<string, unknown>]));
      });
      request.on('error', reject).end(body === undefined ? '' : JSON.stringify(body));
    });
  assert.equal(fs.statSync(path.dirname(ready.control)).mode & 0o077, 0, 'nobody else opens the socket');
  assert.deepEqual(await send('GET', '/v1/host'), [200, ready]);
  const [status, one] = await send('POST', '/v1/clusters', { flags: ['--emulated-version=1.33'], auditLevel: 'None' });
  assert.deepEqual(
    [status, Object.keys(one).sort()],
    [201, ['ca', 'id', 'kubeconfig', 'kubeconfigPath', 'logPath', 'token', 'url']],
  );
  assert.deepEqual(await send('GET', '/v1/clusters/c1'), [200, one]);
  const [, snapshot] = await send('POST', '/v1/clusters/c1/snapshots');
  assert.deepEqual(await send('GET', '/v1/clusters/c1/snapshots'), [200, [snapshot]]);
  assert.equal((await send('POST', '/v1/clusters/c1/reset', { snapshot: snapshot['id'] }))[0], 200);
  const [forked, fork] = await send('POST', '/v1/clusters/c1/fork', { snapshot: snapshot['id'] });
  assert.deepEqual([forked, fork['id']], [201, 'c2']);
  assert.deepEqual(await send('GET', '/v1/clusters'), [200, [one, fork]]);
  assert.deepEqual(await send('DELETE', '/v1/clusters/c1/snapshots/s1'), [200, {}]);
  const refusals: readonly (readonly [string, string, unknown, number, RegExp])[] = [
    ['POST', '/v1/clusters/c1/reset', { snapshot: 's1' }, 404, /the cluster has no snapshot s1/],
    ['POST', '/v1/clusters/c1/reset', {}, 400, /name the snapshot to go back to/],
    ['POST', '/v1/clusters', { flag: [] }, 400, /flag/],
    ['GET', '/v1/clusters/c9', undefined, 404, /no cluster c9 runs here/],
    ['PATCH', '/v1/clusters/c1', {}, 404, /PATCH \/v1\/clusters\/c1 is not served here/],
    ['GET', '/v2/host', undefined, 404, /is not served here/],
  ];
  for (const [method, at, body, code, text] of refusals) {
    const [answered, failure] = await send(method, at, body);
    assert.equal(answered, code, `${method} ${at}`);
    assert.match(String(failure['error']), text);
  }
  assert.deepEqual(await send('DELETE', '/v1/clusters/c2'), [200, {}]);
  assert.deepEqual(await send('GET', '/v1/clusters'), [200, [one]]);
  child.stdin.end();
  assert.equal(await exited, 0);
  assert.ok(!fs.existsSync(path.dirname(ready.control)));
});

describe('the process behind the clusters', { timeout: 120_000 }, () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-testkit-'));
  after(() => fs.rmSync(home, { recursive: true, force: true }));
  const script = `
    import { startCluster } from ${JSON.stringify(path.join(root, 'dist', 'testing.mjs'))};
    const cluster = await startCluster();
    console.log(cluster.url);
  `;
  /** A program that uses the library, with a folder for temporary files of its own. */
  const start = (more: string) => {
    const temporary = fs.mkdtempSync(path.join(home, 'tmp-'));
    const child = spawn(process.execPath, ['--input-type=module', '-e', script + more], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return {
      child,
      exited,
      left: () => fs.readdirSync(temporary),
      first: new Promise((resolve) => child.stdout.once('data', resolve)),
    };
  };

  it('ends with a program that forgets to stop its clusters, and does not keep it alive', async () => {
    const { exited, left } = start('');
    assert.equal(await exited, 0);
    await pollUntil(left, (names) => names.length === 0);
  });

  it('ends with a program that is killed', async () => {
    const { child, first, exited, left } = start('setInterval(() => undefined, 1000);');
    await first;
    assert.equal(left().length, 1);
    child.kill('SIGKILL');
    await exited;
    await pollUntil(left, (names) => names.length === 0);
  });

  it('is started anew after its own end, and what it left is removed', async () => {
    const { exited, left } = start(`
      import { execFileSync } from 'node:child_process';
      import assert from 'node:assert/strict';
      const host = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'serve-clusters'], { encoding: 'utf8' });
      process.kill(Number(host.trim()), 'SIGKILL');
      await assert.rejects(cluster.audit(), /the process that serves the clusters has ended: SIGKILL/);
      await assert.rejects(cluster.audit());
      const next = await startCluster();
      assert.equal((await next.request('GET', '/version')).status, 200);
      await next.stop();
    `);
    assert.equal(await exited, 0);
    await pollUntil(left, (names) => names.length === 0);
  });
});
