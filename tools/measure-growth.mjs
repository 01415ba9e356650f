// How cost grows with what a server holds: for each kind of thing, at three sizes, what requests that have nothing to do
// with it cost the server, and how much memory one more takes.
//
//   node tools/measure-growth.mjs [--only objects,watches] [--scale 0.1] [--json FILE]
//
// The table in docs/performance.md is of `--scale 0.4`, which takes three minutes on two quiet cores.
//
// Figures are processor time of the server, in microseconds a request: they hold on a busy machine, too. Memory is the
// process's share of all pages (Pss), with what the store maps, once the server has been idle.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const only = option('--only')?.split(',');
const scale = Number(option('--scale') ?? 1);
/** After five seconds an idle server has given back what load took. */
const IDLE_MS = 9_000;
const LOOK_MS = 1_000;
/** Code is quicker when it has been used, also with what was added. */
const WARM_UP_SHARE = 0.25;
const TICK_MS = 10;

const meta = (name, more = {}) => ({ metadata: { name, ...more } });
const role = (i) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `role-${i % 10}` });
const fields = Object.fromEntries(
  Array.from({ length: 60 }, (_, i) => [`field${i}`, { type: 'string', description: `What field ${i} says.` }]),
);

/** What there is more and more of. `add` makes number i; none of it concerns the requests that are measured. */
const THINGS = {
  objects: {
    sizes: [1000, 5000, 20_000],
    add: (api, i) =>
      api.post('/api/v1/namespaces/other/configmaps', {
        ...meta(`object-${i}`, { labels: { app: `a${i % 100}` } }),
        data: { text: 'x'.repeat(900) },
      }),
  },
  watches: { sizes: [100, 1000, 5000], add: (api) => api.watch('/api/v1/namespaces/other/configmaps') },
  definitions: {
    sizes: [10, 50, 200],
    add: (api, i) =>
      api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        ...meta(`things${i}.growth.test`),
        spec: {
          group: 'growth.test',
          scope: 'Namespaced',
          names: { plural: `things${i}`, singular: `thing${i}`, kind: `Thing${i}`, listKind: `Thing${i}List` },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: fields } } },
              },
            },
          ],
        },
      }),
  },
  namespaces: { sizes: [100, 1000, 5000], add: (api, i) => api.post('/api/v1/namespaces', meta(`namespace-${i}`)) },
  roleBindings: {
    sizes: [100, 1000, 5000],
    add: (api, i) =>
      api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        ...meta(`binding-${i}`),
        roleRef: role(i),
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `user-${i}` }],
      }),
  },
  flowSchemas: {
    sizes: [10, 100, 500],
    add: (api, i) =>
      api.post('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {
        ...meta(`schema-${i}`),
        spec: {
          priorityLevelConfiguration: { name: 'workload-low' },
          matchingPrecedence: 500 + (i % 100),
          rules: [
            {
              subjects: [{ kind: 'User', user: { name: `user-${i}` } }],
              resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
            },
          ],
        },
      }),
  },
  webhooks: {
    sizes: [10, 100, 500],
    add: (api, i) =>
      api.post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        ...meta(`hook-${i}`),
        webhooks: [
          {
            name: `hook-${i}.growth.test`,
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            clientConfig: { url: 'https://127.0.0.1:1/none' },
            rules: [{ apiGroups: ['growth.test'], apiVersions: ['v1'], operations: ['*'], resources: ['nothings'] }],
          },
        ],
      }),
  },
};

/** What is measured at each size, by a user who is no administrator, so that permissions are looked up. */
const REQUESTS = {
  get: { count: 4000, ask: (api) => api.get('/api/v1/namespaces/mine/configmaps/one') },
  list: { count: 1000, ask: (api) => api.get('/api/v1/namespaces/mine/configmaps') },
  create: {
    count: 600,
    ask: (api) => api.post('/api/v1/namespaces/mine/secrets', { metadata: { generateName: 's-' } }),
  },
};

const results = {};
for (const [name, thing] of Object.entries(THINGS)) {
  if (only === undefined || only.includes(name)) results[name] = await grow(name, thing);
}
if (option('--json') !== undefined) fs.writeFileSync(option('--json'), JSON.stringify(results, null, 1));
process.exit(0);

async function grow(name, { sizes, add }) {
  const server = await start();
  try {
    const rows = [];
    await measure(server, 1);
    let first;
    for (const size of sizes.map((each) => Math.max(1, Math.round(each * scale)))) {
      const made = rows.at(-1)?.size ?? 0;
      await many(size - made, (i) => add(server.admin, made + i));
      await measure(server, WARM_UP_SHARE);
      const costs = await measure(server, 1);
      rows.push({ size, ...costs });
      // What is loaded once is paid for by the first.
      first ??= { size, mib: await server.memoryMib() };
      const shown = Object.entries(costs).map(([verb, us]) => `${verb} ${us.toFixed(0)} µs`);
      console.log(`${name.padEnd(13)} ${String(size).padStart(6)}   ${shown.join('   ')}`);
    }
    const last = rows.at(-1).size;
    const kibEach = (((await server.memoryMib()) - first.mib) * 1024) / (last - first.size);
    console.log(`${name.padEnd(13)} ${kibEach.toFixed(1)} KiB each, from ${first.size} to ${last}`);
    return { rows, kibEach };
  } finally {
    server.stop();
  }
}

async function measure(server, share) {
  const costs = {};
  for (const [verb, request] of Object.entries(REQUESTS)) {
    const count = request.count * share;
    const before = server.usedMs();
    await many(count, () => request.ask(server.user));
    costs[verb] = ((server.usedMs() - before) * 1000) / count;
  }
  return costs;
}

async function many(count, run) {
  let next = 0;
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

async function start() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-growth-'));
  const tokens = path.join(folder, 'tokens.csv');
  fs.writeFileSync(tokens, 'admin,admin,admin,"system:masters"\nuser,user,user\n');
  const port = await freePort();
  const flags = [`--secure-port=${port}`, '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
  const files = [`--data-dir=${folder}/state`, `--cert-dir=${folder}/certs`, `--token-auth-file=${tokens}`];
  const child = spawn(path.join(root, 'bin/binnacle'), [...flags, ...files], { stdio: 'ignore' });
  const url = `https://127.0.0.1:${port}`;
  const admin = await client(url, 'admin');
  await prepare(admin);
  return {
    admin,
    user: await client(url, 'user'),
    usedMs: () => {
      const stat = fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return (Number(stat[11]) + Number(stat[12])) * TICK_MS;
    },
    memoryMib: async () => {
      let least = Infinity;
      for (let waitedMs = 0; waitedMs < IDLE_MS; waitedMs += LOOK_MS) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        const text = fs.readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8');
        least = Math.min(least, Number(/^Pss:\s+(\d+)/m.exec(text)[1]) / 1024);
      }
      return least;
    },
    stop: () => {
      child.kill('SIGKILL');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the measured requests find, and the permission of the one who asks. */
async function prepare(admin) {
  for (const name of ['mine', 'other']) await admin.post('/api/v1/namespaces', meta(name));
  await admin.post('/api/v1/namespaces/mine/configmaps', { ...meta('one'), data: { text: 'x'.repeat(900) } });
  const rules = [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['*'] }];
  await admin.post('/apis/rbac.authorization.k8s.io/v1/namespaces/mine/roles', { ...meta('mine'), rules });
  await admin.post('/apis/rbac.authorization.k8s.io/v1/namespaces/mine/rolebindings', {
    ...meta('mine'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'mine' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'user' }],
  });
}

/** Waits until the server is there. Watches have connections of their own, a hundred on each. */
async function client(url, token) {
  const connect = () => http2.connect(url, { rejectUnauthorized: false });
  const headers = { authorization: `Bearer ${token}` };
  let session = connect();
  let watching = { session: undefined, streams: 0 };
  const ask = (method, target, body) =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const stream = session.request({ ':method': method, ':path': target, ...headers, ...type });
      let status = 0;
      let text = '';
      stream.on('response', (answer) => (status = answer[':status']));
      stream.on('data', (chunk) => (text += chunk));
      stream.on('error', reject);
      stream.on('end', () => {
        if (status < 300) resolve();
        else reject(new Error(`${method} ${target}: ${status} ${text.slice(0, 300)}`));
      });
      stream.end(body === undefined ? undefined : JSON.stringify(body));
    });
  for (let tries = 0; ; tries++) {
    try {
      session.on('error', () => undefined);
      await ask('GET', '/readyz');
      break;
    } catch (error) {
      if (tries > 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
      session = connect();
    }
  }
  return {
    get: (target) => ask('GET', target),
    post: (target, body) => ask('POST', target, body),
    watch: (target) =>
      new Promise((resolve, reject) => {
        if (watching.streams === 0) watching = { session: connect(), streams: 100 };
        watching.streams--;
        const stream = watching.session.request({ ':path': `${target}?watch=1&resourceVersion=0`, ...headers });
        stream.on('response', resolve).on('error', reject).resume();
      }),
  };
}
