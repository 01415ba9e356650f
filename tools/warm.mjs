// Starts the server once, in a folder that is thrown away, and sends it the requests of most clients, so that
// V8's compiled code is there for the first real start and the first real requests: without it they take half as long
// again. The store by etcd's API is started as well. An optimization only: whatever goes wrong here, both start without.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const GIVE_UP_MS = 30_000;
const LOOK_MS = 100;
/** What was compiled is written when a process ends. */
const env = { ...process.env, BINNACLE_CACHE_AFTER_MS: 'exit' };
const TOKEN = 'warm';
const WATCH = 'watch=1&timeoutSeconds=2';
const root = path.resolve(process.argv[2] ?? path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const dist = path.join(root, 'dist');
// One of an earlier build is of no use.
for (const name of caches()) fs.rmSync(path.join(dist, name));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-warm-'));
const tokens = path.join(folder, 'tokens.csv');
fs.writeFileSync(tokens, `${TOKEN},warm,1,system:masters\n`);
const port = await freePort();
const url = `https://127.0.0.1:${port}`;
const store = spawn(
  path.join(root, 'bin', 'etcd'),
  [`--data-dir=${path.join(folder, 'store')}`, `--listen-client-urls=unix://${path.join(folder, 'store.sock')}`],
  { stdio: 'ignore', env },
);
const server = spawn(
  path.join(root, 'bin', 'binnacle'),
  [
    `--data-dir=${path.join(folder, 'data')}`,
    `--secure-port=${port}`,
    `--token-auth-file=${tokens}`,
    '--authorization-mode=Node,RBAC',
    '--controllers=*',
    '--bind-address=127.0.0.1',
  ],
  { stdio: 'ignore', env },
);
const ended = Promise.all(
  [server, store].map((child) => new Promise((resolve) => child.on('close', resolve).on('error', resolve))),
);
const giveUp = setTimeout(() => [server, store].forEach((child) => child.kill('SIGKILL')), GIVE_UP_MS);
await sendAll().catch((error) => console.error(`requests were not sent ahead: ${error.message}`));
server.kill('SIGTERM');
store.kill('SIGTERM');
await ended;
clearTimeout(giveUp);
fs.rmSync(folder, { recursive: true, force: true });

function caches() {
  return fs.readdirSync(dist).filter((name) => name.endsWith('.v8'));
}

function running() {
  return server.exitCode === null && server.signalCode === null && server.pid !== undefined;
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

/** One after another, twice: the second time is often another way through a function. Watches go on beside the others. */
async function sendAll() {
  while (running() && !(await isReady())) await pause();
  const session = http2.connect(url, { rejectUnauthorized: false }).on('error', () => undefined);
  for (const request of ['a', 'b'].flatMap(requests)) {
    const answered = send(session, request);
    if (!request[1].includes(WATCH)) await answered;
  }
  session.close();
}

function requests(name) {
  const core = '/api/v1/namespaces/warm';
  const things = '/apis/warm.test/v1/namespaces/warm/things';
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const deployment = `/apis/apps/v1/namespaces/warm/deployments/${name}`;
  const selector = { matchLabels: { app: name } };
  const spec = {
    nodeName: name,
    containers: [{ name, image: 'warm.test/warm', resources: { requests: { cpu: '1' } } }],
  };
  const template = { metadata: { labels: { app: name } }, spec: { containers: spec.containers } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
  const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
  return [
    ['POST', '/api/v1/namespaces', { metadata: { name: 'warm' } }],
    ['POST', `${core}/serviceaccounts`, { metadata: { name: 'default' } }],
    ['GET', `${core}/configmaps?${WATCH}&resourceVersion=0`],
    ['POST', `${core}/configmaps`, { metadata: { name }, data: { a: 'b' } }],
    ['POST', `${core}/secrets`, { metadata: { generateName: name }, stringData: { a: 'b' } }],
    ['POST', `${core}/pods`, { metadata: { name, labels: { app: name } }, spec }],
    ['POST', `${core}/services`, { metadata: { name }, spec: { selector: { app: name }, ports: [{ port: 80 }] } }],
    ['GET', `${core}/configmaps/${name}`],
    ['PUT', `${core}/configmaps/${name}`, { metadata: { name }, data: { a: 'c' } }],
    ['PATCH', `${core}/configmaps/${name}`, { data: { a: 'd' } }, { 'content-type': 'application/merge-patch+json' }],
    [
      'PATCH',
      `${core}/pods/${name}/status`,
      { status: { phase: 'Running' } },
      { 'content-type': 'application/strategic-merge-patch+json' },
    ],
    [
      'PATCH',
      `${deployment}?fieldManager=warm`,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { selector, template } },
      { 'content-type': 'application/apply-patch+yaml' },
    ],
    [
      'POST',
      crds,
      { metadata: { name: 'things.warm.test' }, spec: { group: 'warm.test', scope: 'Namespaced', names, versions } },
    ],
    ['GET', `${core}/pods`],
    ['GET', `${core}/pods`, undefined, table],
    ['GET', `${core}/pods?limit=500`],
    ['GET', `${core}/pods?labelSelector=app%3D${name}`],
    ['GET', `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`],
    ['GET', '/apis', undefined, aggregated],
    ['GET', '/api', undefined, aggregated],
    ['GET', '/openapi/v2'],
    ['GET', '/openapi/v3'],
    ['POST', things, { apiVersion: 'warm.test/v1', kind: 'Thing', metadata: { name }, spec: {} }],
    ['GET', things],
    ['DELETE', `${things}/${name}`],
    ['DELETE', `${core}/pods/${name}?gracePeriodSeconds=0`],
    ['DELETE', `${core}/configmaps/${name}`],
  ];
}

function isReady() {
  return new Promise((resolve) => {
    https
      .get(`${url}/readyz`, { rejectUnauthorized: false }, (answer) => resolve(answer.resume().statusCode === 200))
      .on('error', () => resolve(false));
  });
}

function send(session, [method, target, body, headers]) {
  const stream = session.request({
    ':method': method,
    ':path': target,
    authorization: `Bearer ${TOKEN}`,
    ...(body && { 'content-type': 'application/json' }),
    ...headers,
  });
  stream.on('error', () => undefined).resume();
  stream.end(body && JSON.stringify(body));
  return new Promise((resolve) => stream.on('close', resolve));
}
