// Checks the codecs against recorded objects: `node tools/check-wire.mjs DIR`.
//
// DIR holds pairs group.version.Kind.json and .pb. Each .pb must decode to exactly its .json and encode back to exactly
// its bytes; each .json must pass a strict decode and encode to the same members in the same order; where a .yaml lies
// beside them, it must decode as the .json and be encoded as it is.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { loadSource } from './bundle.mjs';

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: node tools/check-wire.mjs DIR');
  process.exit(2);
}
const codec = await loadSource(
  'src/schema/catalogue.ts',
  'src/schema/json/decode.ts',
  'src/schema/json/encode.ts',
  'src/schema/yaml/parse.ts',
  'src/schema/yaml/encode.ts',
  'src/schema/protobuf/envelope.ts',
);

let checked = 0;
let failed = 0;
for (const file of readdirSync(folder).sort()) {
  const match = /^(.*?)\.(v\d\w*)\.(\w+)\.json$/.exec(file);
  if (match === null) continue;
  const [, group, version, kind] = match;
  const type = codec.typeOf(group === 'core' ? '' : group, version, kind);
  if (type === undefined) {
    if (process.argv.includes('--known')) continue;
    fail(file, 'the catalogue has no such type');
    continue;
  }
  checked++;
  const json = JSON.stringify(JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
  try {
    checkJson(file, type, json);
    const binary = path.join(folder, file.replace(/json$/, 'pb'));
    if (existsSync(binary)) checkProtobuf(file, type, json, readFileSync(binary));
    const yaml = path.join(folder, file.replace(/json$/, 'yaml'));
    if (existsSync(yaml)) checkYaml(file, json, readFileSync(yaml, 'utf8'));
  } catch (error) {
    fail(file, error.stack);
  }
}
console.log(`${checked} objects, ${failed} differences`);
process.exitCode = failed === 0 ? 0 : 1;

function checkJson(file, type, json) {
  const { object, strictErrors } = codec.decodeJson(type, json, { strict: true });
  if (strictErrors.length > 0) fail(file, strictErrors.join(', '));
  same(file, 'JSON', JSON.stringify(JSON.parse(codec.encodeJson(type, object))), json);
}

function checkProtobuf(file, type, json, bytes) {
  const object = codec.decodeProtobuf(type, bytes);
  same(file, 'protobuf to JSON', JSON.stringify(JSON.parse(codec.encodeJson(type, object))), json);
  const { apiVersion, kind } = codec.readEnvelope(bytes);
  const again = codec.encodeProtobuf(type, type.isKind ? object : { ...object, apiVersion, kind });
  if (!again.equals(bytes)) {
    let at = 0;
    while (again[at] === bytes[at]) at++;
    fail(
      file,
      `protobuf differs at byte ${at}:\n  ${bytes.toString('hex', at - 8, at + 24)}\n  ${again.toString('hex', at - 8, at + 24)}`,
    );
  }
}

function checkYaml(file, json, yaml) {
  const tree = codec.encodeTree(JSON.parse(json));
  same(file, 'YAML to JSON', codec.encodeTree(codec.parseYaml(yaml).value), tree);
  same(file, 'YAML', codec.encodeYaml(JSON.parse(json)), yaml);
}

function same(file, what, actual, expected) {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const part = (text) => text.slice(Math.max(0, at - 40), at + 60);
  fail(file, `${what} differs:\n  ${part(expected)}\n  ${part(actual)}`);
}

function fail(file, message) {
  failed++;
  console.log(`${file}: ${message}`);
}
