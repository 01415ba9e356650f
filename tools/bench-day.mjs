// What each request of an ordinary day costs the server: processor time, collections of V8 and writes, for a fixed count of
// each, one at a time or so many at once, while nodes watch.
//
//   node tools/bench-day.mjs [--nodes 100] [--pods 500] [--count 300] [--at-once 1] [--protobuf] [--only lease,event]
//                            [--node-flags '…'] [--checkout FOLDER]
//
// The machine may be busy: nothing here depends on how long anything takes. Each node has a connection with four watches
// (its pods, itself, services, endpoint slices), three followers watch everything.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, headersOf, option, send, startBinnacle } from './bench/servers.mjs';
import * as objects from './bench/day-objects.mjs';

const NS = '/api/v1/namespaces/day';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/day/endpointslices';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const FOLLOWERS = 3;
const [MERGE, STRATEGIC] = ['merge', 'strategic-merge'].map((kind) => ({
  'content-type': `application/${kind}-patch+json`,
}));
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const nodes = Number(option('--nodes', '100'));
const pods = Number(option('--pods', '500'));
const count = Number(option('--count', '300'));
const atOnce = Number(option('--at-once', '1'));
const only = option('--only', '').split(',').filter(Boolean);
const nodeFlags = option('--node-flags', '').split(' ').filter(Boolean);
const accept = process.argv.includes('--protobuf') ? { accept: PROTOBUF } : {};
process.chdir(option('--checkout', '.'));

/** Each by its number: a pod is created, bound, reported and deleted by the same. */
const WORK = {
  lease: (n) => renew(n % nodes),
  'node status': (n) => ask('PATCH', `/api/v1/nodes/n${n % nodes}/status`, objects.nodeStatus(++sent), STRATEGIC),
  create: (n) => ask('POST', `${NS}/pods`, objects.pod(`churn-${n}`)),
  bind: (n) => ask('POST', `${NS}/pods/churn-${n}/binding`, objects.binding(`churn-${n}`, `n${n % nodes}`)),
  'pod status': (n) => ask('PATCH', `${NS}/pods/churn-${n}/status`, objects.podStatus('Running'), STRATEGIC),
  event: (n) => ask('POST', `${NS}/events`, objects.event(`churn-${n}`)),
  slice: (n) => ask('PATCH', `${SLICES}/s${n % 50}`, { metadata: { annotations: { sent: String(++sent) } } }, MERGE),
  delete: (n) => ask('DELETE', `${NS}/pods/churn-${n}?gracePeriodSeconds=0`),
  get: (n) => ask('GET', `${NS}/pods/p${n % pods}`),
  'list of 500': (n) => afterChange(n, `${NS}/pods?limit=500`),
  'list by label': (n) => afterChange(n, `${NS}/pods?labelSelector=app%3Dapp3&limit=100`),
};
/** Before each is measured, so many are made. */
const WARMING = count;
let sent = 0;
const leaseVersions = [];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-day-'));
const server = await startBinnacle(folder, [], process.execPath, ['--trace-gc', ...nodeFlags]);
const collections = { all: 0, young: 0 };
server.child.stdout.on('data', (text) => {
  collections.all += String(text).split('Mark-Compact').length - 1;
  collections.young += String(text).split('Scavenge').length - 1;
});
let events = 0;
let session;
try {
  session = connect(server);
  await prepare();
  await watchAll();
  const names = Object.keys(WORK);
  console.log(
    `${'one of'.padEnd(14)} main thread, µs   other threads, µs   writes   events   full collections, young ones (in ${count})`,
  );
  for (const name of names.filter((each) => only.length === 0 || only.includes(each))) await measure(name);
  const { external, heap } = memory();
  console.log(`at last ${heap} MiB resident, ${external} MiB of it anonymous`);
} finally {
  server.child.kill('SIGKILL');
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function renew(i) {
  const renewed = objects.lease(i, ++sent, leaseVersions[i]);
  leaseVersions[i] = versionIn(await ask('PUT', `${LEASES}/n${i}`, renewed, { accept: 'application/json' }));
}

/** The list after a change, as in a cluster that lives: no answer is there from before. */
async function afterChange(n, target) {
  await ask(
    'PATCH',
    `${NS}/pods/p${n % pods}/status`,
    { status: { ...objects.podStatus('Running').status, message: String(++sent) } },
    STRATEGIC,
  );
  await ask('GET', target);
}

async function measure(name) {
  const work = WORK[name];
  await inParallel(WARMING, (i) => work(count + i), atOnce);
  await settle();
  const before = look();
  await inParallel(count, work, atOnce);
  await settle();
  const after = look();
  const each = (what, digits) => ((after[what] - before[what]) / count).toFixed(digits);
  const columns = [each('mainUs', 0).padStart(15), each('otherUs', 0).padStart(19), each('writes', 1).padStart(8)];
  columns.push(each('events', 1).padStart(8), `  ${after.all - before.all}, ${after.young - before.young}`);
  console.log(name.padEnd(14), ...columns);
}

async function settle() {
  for (let last = -1; events !== last;) {
    last = events;
    await sleep(100);
  }
}

function look() {
  const { pid } = server.child;
  const us = (task) => Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const others = fs.readdirSync(`/proc/${pid}/task`).filter((task) => task !== String(pid));
  const writes = Number(/^syscw: (\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
  return {
    mainUs: us(pid),
    otherUs: others.reduce((sum, task) => sum + us(task), 0),
    writes,
    events,
    ...collections,
  };
}

function versionIn(answer) {
  return /"resourceVersion":"(\d+)"/.exec(String(answer))?.[1];
}

function memory() {
  const text = fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  const mib = (name) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)[1]) / 1024);
  return { heap: mib('VmRSS'), external: mib('RssAnon') };
}

function ask(method, target, body, headers = {}) {
  return send(session, headersOf(method, target, { ...accept, ...headers }), body && JSON.stringify(body));
}

async function prepare() {
  await ask('POST', '/api/v1/namespaces', { metadata: { name: 'day' } });
  await ask('POST', `${NS}/serviceaccounts`, { metadata: { name: 'default' } });
  await inParallel(nodes, async (i) => {
    await ask('POST', '/api/v1/nodes', objects.node(i));
    await ask('PATCH', `/api/v1/nodes/n${i}/status`, objects.nodeStatus(0), STRATEGIC);
    leaseVersions[i] = versionIn(await ask('POST', LEASES, objects.lease(i, 0), { accept: 'application/json' }));
  });
  await inParallel(pods, async (i) => {
    await ask('POST', `${NS}/pods`, objects.pod(`p${i}`, `n${i % nodes}`));
    await ask('PATCH', `${NS}/pods/p${i}/status`, objects.podStatus('Running'), STRATEGIC);
  });
  await inParallel(50, async (i) => {
    await ask('POST', SLICES, objects.slice(i, nodes));
    await ask('POST', `${NS}/services`, objects.service(i));
  });
}

async function watchAll() {
  const ofNode = (i) => [
    `/api/v1/pods?fieldSelector=spec.nodeName%3Dn${i}`,
    `/api/v1/nodes?fieldSelector=metadata.name%3Dn${i}`,
    '/api/v1/services',
    '/apis/discovery.k8s.io/v1/endpointslices',
  ];
  const all = ['/api/v1/pods', '/api/v1/nodes', '/api/v1/events', '/apis/coordination.k8s.io/v1/leases'];
  for (let i = 0; i < nodes; i++) await watch(ofNode(i));
  for (let i = 0; i < FOLLOWERS; i++) await watch(all);
  await settle();
}

async function watch(targets) {
  const own = connect(server);
  for (const target of targets) {
    const form = 'accept' in accept ? { accept: `${PROTOBUF};stream=watch` } : {};
    const stream = own.request(headersOf('GET', `${target}${target.includes('?') ? '&' : '?'}watch=1`, form));
    // Counted roughly where events are not lines: a piece is one or more.
    stream.on('data', 'accept' in accept ? () => events++ : (chunk) => (events += linesIn(chunk)));
    stream.on('error', () => undefined);
    await new Promise((resolve) => stream.on('response', resolve));
  }
}

function linesIn(chunk) {
  let lines = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  return lines;
}

async function inParallel(many, work, workers = 16) {
  let at = 0;
  const worker = async () => {
    while (at < many) await work(at++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
