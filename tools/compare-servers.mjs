// Sends a running kube-apiserver and ours the same requests and shows where they differ: creates, updates and status
// writes of known objects, reviews and subresources with each value changed in some forty ways and each missing member
// added, and random patches of these objects one after another.
//
//   node tools/compare-servers.mjs --shared DIR --kube-apiserver URL --ours URL [--token TOKEN] [--case NAME[,NAME]]
//        [--mode create,update,add,status,patch,subresource] [--patches N] [--seed N] [--out FILE] [--show N]
//
// DIR holds golden/, reference/ and bin/golden.mjs. Both servers are started as golden/README.md there says, without
// controllers: names of namespaces are new in each run, for those of the last one are still ending.
import fs from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import zlib from 'node:zlib';
import { added, changed, grown } from './compare/changes.mjs';
import { Patches, randomNumbers } from './compare/patches.mjs';
import { seedsOf } from './compare/seeds.mjs';
import { neededIn, subresourcesOf } from './compare/subresources.mjs';
import { optionOf } from './parity-counts.mjs';

const AT_ONCE = 6;
const BROKEN_OFF = -1;
const args = process.argv.slice(2);
const [shared, kubeApiserver, ours] = ['--shared', '--kube-apiserver', '--ours'].map((name) => optionOf(args, name));
if (shared === undefined || kubeApiserver === undefined || ours === undefined) {
  console.error(
    'usage: node tools/compare-servers.mjs --shared DIR --kube-apiserver URL --ours URL [--case NAME] [--mode MODE]',
  );
  process.exit(2);
}
const golden = await import(pathToFileURL(resolve(shared, 'bin', 'golden.mjs')));
const token = optionOf(args, '--token') ?? 'admintoken';
const servers = [kubeApiserver, ours].map((server) => new golden.Client({ server, token, timeout: 60_000 }));
const gzip = fs.readFileSync(join(shared, 'reference', 'openapi-v2.json.gz'));
const { definitions } = JSON.parse(zlib.gunzipSync(gzip));
const modes = new Set((optionOf(args, '--mode') ?? 'create,update,add,status,patch,subresource').split(','));
const patchCount = Number(optionOf(args, '--patches') ?? 40);
const random = randomNumbers(Number(optionOf(args, '--seed') ?? 1));
const wanted = optionOf(args, '--case')?.split(',');
const out = optionOf(args, '--out');
const tag = Date.now().toString(36);
const differences = [];
let compared = 0;

for (const seed of seedsOf(shared)) {
  if (wanted === undefined || wanted.includes(seed.name)) await compareSeed(seed);
}
if (modes.has('subresource')) await compareSubresources();
for (const { what, found } of differences.slice(0, Number(optionOf(args, '--show') ?? 20))) {
  console.log(`${what}\n    ${found.slice(0, 3).join('\n    ')}`);
}
console.log(`${compared - differences.length} of ${compared} answers agree`);
if (out !== undefined)
  fs.writeFileSync(out, differences.map((difference) => `${JSON.stringify(difference)}\n`).join(''));
process.exit(0);

async function compareSeed(seed) {
  const ns = `compare-${tag}-${seed.name.replace(/[^a-z0-9]/g, '').slice(0, 30)}`;
  const here = (value) => golden.substitute(value, { ns });
  await makeNamespace(ns, seed.labels);
  const created = { method: 'POST', path: `${here(seed.path)}?dryRun=All&fieldValidation=Strict`, ns, name: seed.name };
  for (const step of seed.before) await send(here(step));
  const object = here(seed.object);
  const type = typeOf(object);
  if (modes.has('create')) await compareAll(created, changed(object));
  if (modes.has('add')) await compareAll(created, grown(object, type, definitions));
  if (seed.update !== undefined) await compareUpdates(seed, here, ns);
  for (const target of seed.after) await send({ method: 'DELETE', path: here(target) });
  await send({ method: 'DELETE', path: `/api/v1/namespaces/${ns}` });
}

async function makeNamespace(ns, labels) {
  const make = (target, kind, metadata) =>
    send({ method: 'POST', path: target, body: { apiVersion: 'v1', kind, metadata } });
  await make('/api/v1/namespaces', 'Namespace', { name: ns, labels });
  await make(`/api/v1/namespaces/${ns}/serviceaccounts`, 'ServiceAccount', { name: 'default' });
}

async function compareSubresources() {
  const ns = `compare-${tag}-subresources`;
  await makeNamespace(ns);
  for (const [path, body] of neededIn(ns)) await send({ method: 'POST', path, body });
  for (const { name, method = 'POST', path, contentType, like, body } of subresourcesOf(ns)) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    const headers = contentType === undefined ? {} : { 'Content-Type': contentType };
    const request = { method, path, headers, ns, name };
    await compareAll(request, changed(body));
    await compareAll(request, grown(body, typeOf(like ?? body), definitions));
  }
}

async function compareUpdates({ name, update }, here, ns) {
  for (const step of update.before) await send(here(step));
  const object = here(update.object);
  const type = typeOf(object);
  const put = (endpoint) => ({ method: 'PUT', path: `${here(update.path)}${endpoint}?dryRun=All`, ns, name });
  if (modes.has('update')) await compareAll(put(''), changed(object));
  if (modes.has('add')) await compareAll(put(''), grown(object, type, definitions));
  const status = type?.properties?.status;
  if (modes.has('patch'))
    await comparePatches({ name, object, path: here(update.path), before: here(update.before) }, ns);
  if (modes.has('status') && status !== undefined) await compareAll(put('/status'), statusesOf(object, status));
}

function* statusesOf(object, schema) {
  for (const [[member, ...rest], value] of added({}, schema, definitions)) {
    if (rest.length === 0) yield [`status.${member}`, { ...object, status: { [member]: value } }];
  }
}

/** One after another, so that an object has been through many; where they differ, it is made anew. */
async function comparePatches({ name, object, path, before }, ns) {
  const others = [...changed(object), ...grown(object, typeOf(object), definitions)].map(([, other]) => other);
  const patches = new Patches(withoutSystemFields(object), others.map(withoutSystemFields), random);
  for (let i = 0; i < patchCount; i++) {
    const [current] = await send({ method: 'GET', path });
    if (current.status !== 200) for (const step of before) await send(step);
    const stored = current.status === 200 ? JSON.parse(current.text) : object;
    const { kind, query, contentType, body } = patches.next(withoutSystemFields(stored));
    const known = differences.length;
    const headers = { 'Content-Type': contentType };
    await compareOne({ method: 'PATCH', path: `${path}?${query}`, headers, ns, name }, `${kind} ${i}`, body);
    if (differences.length > known) await send({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` });
  }
}

/** Each server has its own of these. */
function withoutSystemFields(object) {
  const copy = structuredClone(object);
  for (const member of ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields'])
    delete copy?.metadata?.[member];
  if (copy?.spec?.clusterIP !== 'None') for (const member of ['clusterIP', 'clusterIPs']) delete copy?.spec?.[member];
  return copy;
}

async function compareAll(request, bodies) {
  const next = bodies[Symbol.iterator]();
  const one = async () => {
    for (let { done, value } = next.next(); !done; { done, value } = next.next()) await compareOne(request, ...value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function compareOne({ method, path: target, headers, ns, name }, how, body) {
  const [theirs, mine] = (await send({ method, path: target, headers, body })).map((answer) => {
    const context = { ns, names: new Set(), ips: true, ports: new Set() };
    return JSON.parse(JSON.stringify(golden.answerOf({ ...answer, text: alike(answer.text) }, {}, context)));
  });
  // It has handlers that crash on some patches, and breaks off the answer.
  if (theirs.status === BROKEN_OFF) return;
  compared++;
  for (const { body: answered } of [theirs, mine]) sortConflicts(answered);
  const found = golden.diff({ ...theirs, body: golden.canon(theirs.body) }, { ...mine, body: golden.canon(mine.body) });
  if (found.length > 0) differences.push({ what: `${name}: ${method} ${target}, ${how}`, found, body });
}

/** Those with several managers come in any order. */
function sortConflicts(status) {
  if (status?.reason === 'Conflict')
    status.details?.causes?.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Without what differs between two servers where an object is quoted in a text. */
function alike(text) {
  return text
    .replaceAll(/(resourceVersion\\*":\\*")\d+/g, '$1<version>')
    .replaceAll(/(nodePort\\*":)\d+/g, '$1"<port>"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2026-01-01T00:00:00Z')
    .replaceAll(/(in record \(|ResourceVersion in object meta: )\d+/g, '$1<version>');
}

/** Both answers. */
function send(request) {
  const failed = (error) => ({ status: BROKEN_OFF, headers: {}, text: String(error) });
  return Promise.all(servers.map((server) => server.request(request).catch(failed)));
}

function typeOf({ apiVersion, kind }) {
  const [version, group = ''] = apiVersion.split('/').reverse();
  const isIt = (named) => named.group === group && named.version === version && named.kind === kind;
  return Object.values(definitions).find((type) => type['x-kubernetes-group-version-kind']?.some(isIt));
}
