// How cost grows with what a server holds: for each kind of thing, at three sizes, what requests that have nothing to do
// with it cost the server, and how much memory one more takes.
//
//   node tools/measure-growth.mjs [--only objects,watches] [--scale 0.1] [--json FILE]
//
// The table in docs/lab/2026-11-15-growth.md is of `--scale 0.4`. That takes two and a half minutes of processor time, servers and
// client together: four to five minutes on two cores that others used as well.
//
// Figures are processor time of all threads of the server, in microseconds a request, the least of ROUNDS rounds: what
// others do on the machine adds to it. Memory is V8's heap after a collection, what it holds beside it (bytes, of which
// those that were read last go up and down by some MiB), and what is mapped of the store's file.
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
const ROUNDS = 4;
/** Code is quicker when it has been used, also with what was added. */
const WARM_UP_ROUNDS = 3;
const AT_ONCE = 32;
/** What an overloaded server refuses is sent again, and may be there already. */
const REFUSED = [429, 503, 504];
const MAX_TRIES = 50;
const PAUSE_MS = 100;
/** What is written is looked at by controllers for a while. */
const SETTLED_MS = 3_000;

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
  crds: {
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
  get: { count: 1500, send: (api) => api.get('/api/v1/namespaces/mine/configmaps/one') },
  list: { count: 750, send: (api) => api.get('/api/v1/namespaces/mine/configmaps') },
  create: {
    count: 300,
    send: (api) => api.post('/api/v1/namespaces/mine/secrets', { metadata: { generateName: 's-' } }),
  },
};

const results = {};
for (const [name, thing] of Object.entries(THINGS)) {
  if (only === undefined || only.includes(name)) results[name] = await grow(name, thing);
}
if (option('--json') !== undefined) fs.writeFileSync(option('--json'), JSON.stringify(results, null, 1));
process.exit(0);

async function grow(name, { sizes, add }) {
  const scaled = sizes.map((each) => Math.max(1, Math.round(each * scale)));
  const rows = await withServer(async (server) => {
    const costs = [];
    for (let round = 0; round < WARM_UP_ROUNDS; round++) await measure(server);
    for (const [i, size] of scaled.entries()) {
      await addBetween(server, add, scaled[i - 1] ?? 0, size);
      const least = await leastCosts(server);
      costs.push({ size, ...least });
      const shown = Object.entries(least).map(([verb, us]) => `${verb} ${us.toFixed(0)} µs`);
      console.log(`${name.padEnd(13)} ${String(size).padStart(6)}   ${shown.join('   ')}`);
    }
    return costs;
  });
  // On a server of its own: what was written to measure costs, and is forgotten by and by, would count as well.
  const kibEach = await withServer((server) => memoryEach(server, add, scaled[0], scaled.at(-1)));
  const shown = Object.entries(kibEach).map(([part, kib]) => `${part} ${kib.toFixed(1)} KiB`);
  console.log(`${name.padEnd(13)} each, but for the first ${scaled[0]}: ${shown.join(', ')}`);
  return { rows, kibEach };
}

async function withServer(use) {
  const server = await start();
  try {
    return await use(server);
  } finally {
    server.stop();
  }
}

function addBetween(server, add, from, to) {
  return many(to - from, (i) => add(server.admin, from + i));
}

/** What is loaded once is paid for by the first. */
async function memoryEach(server, add, first, last) {
  await addBetween(server, add, 0, first);
  const before = await server.memoryKib();
  await addBetween(server, add, first, last);
  const after = await server.memoryKib();
  return Object.fromEntries(Object.entries(after).map(([part, kib]) => [part, (kib - before[part]) / (last - first)]));
}

/** After one round that is not counted. */
async function leastCosts(server) {
  await measure(server);
  const least = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [verb, us] of Object.entries(await measure(server))) least[verb] = Math.min(least[verb] ?? Infinity, us);
  }
  return least;
}

async function measure(server) {
  const costs = {};
  for (const [verb, { count, send }] of Object.entries(REQUESTS)) {
    const before = server.usedUs();
    await many(count, () => send(server.user));
    costs[verb] = (server.usedUs() - before) / count;
  }
  return costs;
}

async function many(count, run) {
  let next = 0;
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function start() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-growth-'));
  const tokens = path.join(folder, 'tokens.csv');
  fs.writeFileSync(tokens, 'admin,admin,admin,"system:masters"\nuser,user,user\n');
  const port = await freePort();
  const flags = [`--secure-port=${port}`, '--bind-address=127.0.0.1', '--authorization-mode=RBAC'];
  const files = [`--data-dir=${folder}/state`, `--cert-dir=${folder}/certs`, `--token-auth-file=${tokens}`];
  const memory = path.join(folder, 'memory');
  const look = ['--expose-gc', '--require', path.join(root, 'tools/bench/collected-memory.cjs')];
  const child = spawn(process.execPath, [...look, path.join(root, 'bin/binnacle'), ...flags, ...files], {
    stdio: 'ignore',
    env: { ...process.env, BINNACLE_MEMORY_FILE: memory },
  });
  child.once('exit', () => {
    console.error('the server ended');
    process.exit(1);
  });
  const url = `https://127.0.0.1:${port}`;
  const admin = await client(url, 'admin');
  await prepare(admin);
  const proc = `/proc/${child.pid}`;
  return {
    admin,
    user: await client(url, 'user'),
    usedUs: () => fs.readdirSync(`${proc}/task`).reduce((sum, task) => sum + taskUs(`${proc}/task/${task}`), 0),
    memoryKib: async () => {
      await pause(SETTLED_MS);
      fs.rmSync(memory, { force: true });
      child.kill('SIGUSR2');
      while (!fs.existsSync(memory)) await pause();
      const { heapUsed, external } = JSON.parse(fs.readFileSync(memory, 'utf8'));
      const mapped = mappedKib(fs.readFileSync(`${proc}/smaps`, 'utf8'));
      return { heap: heapUsed / 1024, beside: external / 1024, mapped };
    },
    stop: () => {
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function pause(ms = PAUSE_MS) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A thread may end just now. */
function taskUs(folder) {
  try {
    return Number(fs.readFileSync(`${folder}/schedstat`, 'utf8').split(' ', 1)[0]) / 1000;
  } catch {
    return 0;
  }
}

/** Of the store's file, in proportion to those who map it. */
function mappedKib(smaps) {
  let kib = 0;
  let isStore = false;
  for (const line of smaps.split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isStore = line.endsWith('/store.mdb');
    else if (isStore && line.startsWith('Pss:')) kib += Number.parseInt(line.slice('Pss:'.length), 10);
  }
  return kib;
}

/** What the measured requests find, and the permission of the user. */
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
  const connect = () => http2.connect(url, { rejectUnauthorized: false }).on('error', () => undefined);
  const headers = { authorization: `Bearer ${token}` };
  let session = connect();
  let watching = { session: undefined, streams: 0 };
  const request = async (method, target, body) => {
    for (let tries = 0; ; tries++) {
      const { status, text } = await exchange(session, { ':method': method, ':path': target, ...headers }, body);
      if ((status >= 200 && status < 300) || (tries > 0 && status === 409)) return;
      if (!REFUSED.includes(status) || tries >= MAX_TRIES) throw new Error(`${method} ${target}: ${status} ${text}`);
      await pause();
    }
  };
  for (let tries = 0; ; tries++) {
    try {
      await request('GET', '/readyz');
      break;
    } catch (error) {
      if (tries > 600) throw error;
      await pause();
      session = connect();
    }
  }
  return {
    get: (target) => request('GET', target),
    post: (target, body) => request('POST', target, body),
    watch: (target) =>
      new Promise((resolve, reject) => {
        if (watching.streams === 0) watching = { session: connect(), streams: 100 };
        watching.streams--;
        const stream = watching.session.request({ ':path': `${target}?watch=1&resourceVersion=0`, ...headers });
        stream.on('response', resolve).on('error', reject).resume();
      }),
  };
}

function exchange(session, headers, body) {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const stream = session.request({ ...headers, ...type });
    let status = 0;
    let text = '';
    stream.on('response', (answer) => (status = answer[':status']));
    stream.on('data', (chunk) => (text += chunk));
    stream.on('error', reject);
    stream.on('close', () => resolve({ status, text: text.slice(0, 300) }));
    stream.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
