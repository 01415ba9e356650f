// Lists where our OpenAPI documents differ from the reference's: `node tools/compare-openapi.mjs --shared DIR`.
//
// DIR holds openapi-v2.json.gz and openapi-v3/*.json.gz. They were made with all versions and alpha features on and
// without the values of enums, so ours are built the same way, in this process. Descriptions are ours and left out;
// so are the names of shared parameters, which are hashes of descriptions, and wrappers that only carry one.
import { build } from 'esbuild';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';

const { values } = parseArgs({ options: { shared: { type: 'string' }, all: { type: 'boolean' } } });
if (values.shared === undefined) {
  console.error('usage: node tools/compare-openapi.mjs --shared DIR [--all]');
  process.exit(2);
}
const MOST_SHOWN = values.all ? Infinity : 60;

const started = performance.now();
const ours = await ourDocuments();
const differences = [];
const read = (path) => JSON.parse(gunzipSync(readFileSync(path)).toString());

compareDocument('v2', read(`${values.shared}/openapi-v2.json.gz`), ours.v2);
const seen = new Set();
for (const file of readdirSync(`${values.shared}/openapi-v3`)) {
  const name = file.replace(/_openapi\.json\.gz$/, '').replaceAll('__', '/');
  seen.add(name);
  compareDocument(name, read(`${values.shared}/openapi-v3/${file}`), ours.v3[name]);
}
for (const name of Object.keys(ours.v3)) if (!seen.has(name)) differences.push(`${name}: only ours`);

for (const line of differences.slice(0, MOST_SHOWN)) console.log(line);
if (differences.length > MOST_SHOWN) console.log(`… and ${differences.length - MOST_SHOWN} more (--all)`);
console.log(`${differences.length} differences in ${seen.size + 1} documents`);
console.log(
  `sizes: v2 ${ours.sizes.v2} bytes JSON, ${ours.sizes.v2Protobuf} protobuf; v3 ${ours.sizes.v3} bytes in all`,
);
console.log(`built in ${Math.round(ours.buildMs)} ms (the tool took ${Math.round(performance.now() - started)} ms)`);
process.exitCode = differences.length === 0 ? 0 : 1;

/** Kinds are given services that would only be called by requests, so stand-ins do. */
async function ourDocuments() {
  const entry = `
    import { serverKinds } from './src/server/kinds.js';
    import { createEndpoint } from './src/rest/endpoint.js';
    import { apiEnablement } from './src/machinery/api-enablement.js';
    import { typeOf } from './src/schema/catalogue.js';
    import { createOpenApi } from './src/rest/openapi.js';
    import { besideRoutes } from './src/rest/openapi-beside.js';
    import { MEDIA_TYPES_WITH_CBOR } from './src/rest/media-types.js';
    const standIn = new Proxy(function () {}, { get: (_, key) => (key === Symbol.toPrimitive ? () => '' : standIn), apply: () => standIn });
    const enabled = apiEnablement({ 'api/all': 'true' }, { version: { major: 1, minor: 34 }, forwardCompatible: false, namedForwardCompatible: false });
    const endpoints = serverKinds(standIn).flatMap((kind) =>
      kind.versions.filter(({ version }) => enabled.resource(kind.group, version, kind.plural, true)).map((version) =>
        createEndpoint({ kind }, version, {
          type: typeOf(kind.group, version.version, kind.kind),
          listType: typeOf(kind.group, version.version, kind.kind + 'List'),
        }),
      ),
    );
    const { handle } = createOpenApi({
      endpoints: () => endpoints,
      mediaTypes: MEDIA_TYPES_WITH_CBOR,
      version: 'unversioned',
      enums: false,
      beside: besideRoutes({ issuer: true, logs: true }),
      now: () => new Date(),
    });
    const get = async (path, accept) => (await handle({ method: 'GET', path, query: new URLSearchParams(), headers: { accept } })).body;
    const json = async (path) => JSON.parse((await get(path, 'application/json')).toString());
    const started = performance.now();
    const { paths } = await json('/openapi/v3');
    const v2Text = await get('/openapi/v2', 'application/json');
    const buildMs = performance.now() - started;
    const v3 = {};
    for (const name of Object.keys(paths)) v3[name] = await json('/openapi/v3/' + name);
    const sizes = {
      v2: v2Text.length,
      v2Protobuf: (await get('/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf')).length,
      v3: Object.values(v3).reduce((sum, document) => sum + JSON.stringify(document).length, 0),
    };
    export default { v2: JSON.parse(v2Text.toString()), v3, buildMs, sizes };
  `;
  const result = await build({
    stdin: { contents: entry, resolveDir: process.cwd(), loader: 'js' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(process.cwd() + '/');" },
  });
  const code = result.outputFiles[0].text;
  return (await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)).default;
}

function compareDocument(name, theirs, document) {
  if (document === undefined) {
    differences.push(`${name}: missing`);
    return;
  }
  for (const [label, mine, reference] of parts(theirs, document)) compare(`${name} ${label}`, mine, reference);
}

function* parts(theirs, document) {
  const definitions = (d) => d.definitions ?? d.components?.schemas ?? {};
  const kinds = { definition: definitions, path: (d) => d.paths };
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
