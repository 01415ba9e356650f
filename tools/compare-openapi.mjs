// Lists where our OpenAPI documents differ from those of a running kube-apiserver:
//
//   node tools/compare-openapi.mjs --kube-apiserver URL --ours URL [--token TOKEN] [--all]
//
// Both servers get the same CRDs first. Descriptions are ours and left out; so are the names of
// shared parameters, which are hashes of descriptions, and wrappers that only carry one.
import https from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { crds } from './compare/crds.mjs';
import { optionOf } from './parity-counts.mjs';

const args = process.argv.slice(2);
const [kubeApiserver, ours] = ['--kube-apiserver', '--ours'].map((name) => optionOf(args, name));
if (kubeApiserver === undefined || ours === undefined) {
  console.error('usage: node tools/compare-openapi.mjs --kube-apiserver URL --ours URL [--token TOKEN] [--all]');
  process.exit(2);
}
const token = optionOf(args, '--token') ?? 'admintoken';
const MAX_SHOWN = args.includes('--all') ? Infinity : 60;
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });

const [expected, found] = await Promise.all([kubeApiserver, ours].map(documentsOf));
const differences = [];
compareDocument('v2', expected.v2, found.v2);
for (const name of new Set([...expected.v3.keys(), ...found.v3.keys()])) {
  if (!expected.v3.has(name)) differences.push(`${name}: only ours`);
  else compareDocument(name, expected.v3.get(name), found.v3.get(name));
}
for (const line of differences.slice(0, MAX_SHOWN)) console.log(line);
if (differences.length > MAX_SHOWN) console.log(`… and ${differences.length - MAX_SHOWN} more (--all)`);
console.log(`${differences.length} differences in ${expected.v3.size + 1} documents`);
process.exitCode = differences.length === 0 ? 0 : 1;
agent.destroy();

async function documentsOf(server) {
  const at = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of crds) {
    const { status, text } = await send(server, at, definition);
    if (status !== 201) throw new Error(`${server} answers ${status} to ${definition.metadata.name}: ${text}`);
  }
  try {
    const paths = await published(server);
    const v3 = new Map();
    for (const [name, { serverRelativeURL }] of Object.entries(paths))
      v3.set(name, await json(server, serverRelativeURL));
    return { v2: await json(server, '/openapi/v2'), v3 };
  } finally {
    for (const { metadata } of crds) await send(server, `${at}/${metadata.name}`, undefined, 'DELETE');
  }
}

/** The index, once both versions have every CRD. */
async function published(server) {
  const wanted = crds.flatMap(({ spec }) =>
    spec.versions
      .filter(({ served }) => served)
      .map(({ name }) => ({ document: `apis/${spec.group}/${name}`, spec, name })),
  );
  for (;;) {
    const [{ paths }, v2] = await Promise.all([json(server, '/openapi/v3'), json(server, '/openapi/v2')]);
    const isPublished = ({ document, spec, name }) =>
      paths[document] !== undefined && v2.paths[`/apis/${spec.group}/${name}/${spec.names.plural}`] !== undefined;
    if (wanted.every(isPublished)) return paths;
    await setTimeout(500);
  }
}

async function json(server, path) {
  const { status, text } = await send(server, path);
  if (status !== 200) throw new Error(`${server} answers ${status} to ${path}`);
  return JSON.parse(text);
}

function send(server, path, body, method = body === undefined ? 'GET' : 'POST') {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = https.request(new URL(path, server), { method, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function compareDocument(name, theirs, document) {
  if (document === undefined) {
    differences.push(`${name}: missing`);
    return;
  }
  for (const [label, mine, reference] of parts(theirs, document)) compare(`${name} ${label}`, mine, reference);
}

function definitionsIn(document) {
  return document.definitions ?? document.components?.schemas ?? {};
}

function* parts(theirs, document) {
  const kinds = { definition: definitionsIn, path: (d) => d.paths };
  for (const [label, of] of Object.entries(kinds)) {
    for (const key of new Set([...Object.keys(of(theirs)), ...Object.keys(of(document))])) {
      yield [`${label} ${key}`, plain(of(document)[key], document), plain(of(theirs)[key], theirs)];
    }
  }
  const rest = (d) => ({
    info: d.info,
    form: d.swagger ?? d.openapi,
    security: d.security,
    schemes: d.securityDefinitions ?? d.components?.securitySchemes,
  });
  yield ['rest', plain(rest(document), document), plain(rest(theirs), theirs)];
}

/** Without descriptions, with shared parameters in place, and a reference's lone wrapper gone. */
function plain(value, document, named = false) {
  if (Array.isArray(value)) return value.map((item) => plain(item, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference } = value;
  if (typeof reference === 'string' && reference.startsWith('#/parameters/')) {
    return plain(document.parameters[reference.slice('#/parameters/'.length)], document);
  }
  const copy = {};
  for (const key of Object.keys(value).sort()) {
    if (!named && key === 'description' && typeof value[key] === 'string') continue;
    const member = plain(value[key], document, !named && (key === 'properties' || key === 'responses'));
    copy[key] =
      !named && key === 'required' && Array.isArray(member) ? member.toSorted((a, b) => a.localeCompare(b)) : member;
  }
  const keys = Object.keys(copy);
  return !named && keys.length === 1 && copy.allOf?.length === 1 ? copy.allOf[0] : copy;
}

function compare(where, mine, theirs) {
  if (JSON.stringify(mine) === JSON.stringify(theirs)) return;
  if (mine === undefined || theirs === undefined) {
    differences.push(`${where}: only ${mine === undefined ? 'theirs' : 'ours'}`);
    return;
  }
  const bothObjects = [mine, theirs].every(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  if (!bothObjects) {
    differences.push(`${where}: ours ${shorten(mine)} theirs ${shorten(theirs)}`);
    return;
  }
  for (const key of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    compare(`${where} ${key}`, mine[key], theirs[key]);
  }
}

function shorten(value) {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
