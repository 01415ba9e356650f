// runs-on: every-node
import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import type { KubeObject } from '../../machinery/object.js';
import { FieldSet } from '../apply/field-set.js';
import { typeOf } from '../catalogue.js';
import { deepCopySteps } from '../deep-copy.js';
import type { ConfigMap } from '../generated/core.v1.js';
import type { StructType } from '../type.js';
import { transferPieces } from './transfer.js';
import { type Decoded, decodeJson, DecodeError, parseJsonTree } from './decode.js';
import { type ReadPieces, readPieces } from './decode-pieces.js';
import { encodePieces } from './encode-pieces.js';
import { encodeStored, encodeTree } from './encode.js';

const kind = (group: string, version: string, name: string): StructType => {
  const type = typeOf(group, version, name);
  assert.ok(type, name);
  return type;
};
const configMap = kind('', 'v1', 'ConfigMap');
const pod = kind('', 'v1', 'Pod');
const definition = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition');

const whole = (type: StructType, text: string): Decoded | undefined => {
  try {
    return decodeJson(type, text, { strict: true });
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return undefined;
  }
};

/** How many steps it took, once it is known that the result is the one of the reader that reads all at once. */
function sameAsWhole(type: StructType, text: string): number {
  const expected = whole(type, text);
  let steps = 0;
  let read: ReadPieces | undefined;
  for (const reading = readPieces(text, type, { strict: true }); ; steps++) {
    const { done, value } = reading.next();
    if (!done) continue;
    read = value;
    break;
  }
  const about = text.slice(0, 60);
  assert.equal(read === undefined, expected === undefined, about);
  if (read === undefined || expected === undefined) return steps;
  if (expected.strictErrors.length > 0) assert.equal(read.clean, false, about);
  else if (!text.includes('fieldsV1')) assert.equal(read.clean, true, about);
  // The meaning of a repeated member is known only from the whole.
  if (expected.strictErrors.some((error) => error.startsWith('duplicate'))) return steps;
  assert.equal(encodeTree(read.value, 'asIs'), encodeTree(expected.object, 'asIs'), about);
  return steps;
}

const MANY = 6_000;
const numbered = (entry: (i: number) => string): string => Array.from({ length: MANY }, (_, i) => entry(i)).join(',');
const members = numbered((i) => `"k${i}":"v"`);
const nested = (open: string, inner: string, close: string): string =>
  `${open.repeat(100)}${inner}${close.repeat(100)}`;

test('a large map, list or struct is read in many steps, and reads as at once', () => {
  assert.ok(sameAsWhole(configMap, `{"metadata":{"name":"a"},"data":{${members}}}`) > 2);
  assert.ok(sameAsWhole(configMap, ` { "data" : { ${members} } , "metadata" : { "labels" : { ${members} } } } `) > 4);
  const env = numbered((i) => `{"name":"E${i}","value":""}`);
  assert.ok(sameAsWhole(pod, `{"spec":{"containers":[{"name":"c","env":[${env}]},{"env":[{"name":"a"}]}]}}`) > 4);
  assert.ok(sameAsWhole(pod, `{"spec":{"containers":[${numbered((i) => `{"name":"c${i}"}`)}]}}`) > 2);
});

test('what is large inside of something large is read in its place', () => {
  const env = `[${numbered((i) => `{"name":"E${i}"}`)}]`;
  sameAsWhole(pod, `{"spec":{"containers":[{"name":"a"},{"env":${env}},{"name":"b"},{"env":${env}},{"name":"c"}]}}`);
  sameAsWhole(pod, `{"metadata":{"managedFields":[{"fieldsV1":{"f:data":{${members}},"f:x":{}},"manager":"m"}]}}`);
  const property = `{"type":"object","properties":{${numbered((i) => `"p${i}":{"type":"string","default":${i}.5}`)}}}`;
  sameAsWhole(definition, `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${property}}}]}}`);
  sameAsWhole(
    definition,
    `{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":${property},"items":[${property}]}}}]}}`,
  );
});

test('unknown members, and keys that are named twice in any piece, are noticed', () => {
  sameAsWhole(configMap, `{${members},"data":{"a":"b"}}`);
  sameAsWhole(configMap, `{"data":{${members},"k0":"again"}}`);
  sameAsWhole(configMap, `{"data":{"k0":"first",${members}},"data":{"a":"b"}}`);
  sameAsWhole(configMap, `{"data":{"a":"b"},"data":{${members}}}`);
  sameAsWhole(configMap, `{"data":{${members}},"kind":"ConfigMap","other":{${members}}}`);
  sameAsWhole(configMap, `{"data":{${members}},"metadata":{"labels":{"a":"b","a":"c"}}}`);
  // What is opaque may name a key twice: it is for others to say that this is nothing.
  sameAsWhole(pod, `{"metadata":{"managedFields":[{"fieldsV1":{${members},"k1":{}}}]}}`);
});

test('keys may have any name, and numbers stay what they were', () => {
  sameAsWhole(configMap, `{"data":{"__proto__":"x",${members},"constructor":"y","":"z","\\u0061\\"":"q"}}`);
  sameAsWhole(configMap, `{"data":{${members}},"metadata":{"generation":9007199254740993}}`);
  sameAsWhole(configMap, `{"data":{${members}},"metadata":{"generation":1.5}}`);
  const text = `{"a":[${numbered(() => '1.0')}],"b":9007199254740993,"c":{${members},"d":1e3},"__proto__":{${members}}}`;
  const read = runSync(readPieces(text, undefined, { strict: true }));
  assert.deepEqual(read?.value, parseJsonTree(text).value);
  assert.equal(read?.clean, true);
});

test('what is malformed or of the wrong sort is left to others', () => {
  const data = (entries: string, end = '}}'): string => `{"data":{${entries}${end}`;
  const wrong = [
    data(`${members},`),
    data(`,${members}`),
    data(`${members},,"a":"b"`),
    data(`${members},"a"`),
    data(`${members},"a":`),
    data(`${members},"a":tru`),
    data(`${members},"a":1`),
    data(`${members},"a":["b"]`),
    data(members, ']}'),
    data(members, '}'),
    data(members, '}}}'),
    data(members, '}} x'),
    `{"data":[${members}]}`,
    `{"data":[${numbered(() => '"a"')}]}`,
    `{"metadata":{"finalizers":{${members}}}}`,
    `{"metadata":{"finalizers":[${numbered(() => '"a"')},]}}`,
    `{"metadata":{"finalizers":[${numbered(() => '"a"')}}}`,
    `[${numbered(() => '"a"')}]`,
    `{"data":{"a":"${'b'.repeat(MANY * 10)}}}`,
    nested('[', members, ']'),
    `{"data":${nested('{"a":', `{${members}}`, '}')}}`,
    `{"x":${'[1,'.repeat(20_000)}`,
  ];
  for (const text of wrong) {
    sameAsWhole(configMap, text);
    assert.equal(runSync(readPieces(text, configMap)), undefined, text.slice(-20));
  }
});

test('spaces make nothing of nothing', () => {
  const space = ' '.repeat(MANY * 10);
  sameAsWhole(configMap, `{"data":{${space}},"metadata":{"finalizers":[${space}]}}`);
  sameAsWhole(configMap, `{${space}}`);
  sameAsWhole(configMap, `${space}{}${space}`);
});

test('large sets of owned fields in what this program has encoded are not parsed, and encode, copy and read as such', () => {
  const set = `{"f:data":{${numbered((i) => `"f:k${i}":{}`)}}}`;
  const owned = `"managedFields":[{"manager":"m","operation":"Update","fieldsType":"FieldsV1","fieldsV1":${set}}]`;
  const text = `{"metadata":{"name":"a",${owned}},"data":{"a":"b"}}`;
  for (const type of [configMap, undefined]) {
    const parse = mock.method(JSON, 'parse');
    const object = runSync(readPieces(text, type, { isOurs: true }))?.value as KubeObject;
    const copy = runSync(deepCopySteps(object));
    assert.equal(runSync(transferPieces(copy)).toString(), text);
    const longest = Math.max(...parse.mock.calls.map(({ arguments: [parsed] }) => parsed.length));
    parse.mock.restore();
    assert.ok(longest < set.length / 2, `${longest}`);
    assert.equal(encodeTree(copy), encodeTree(parseJsonTree(text).value));
    assert.deepEqual(copy, parseJsonTree(text).value);
    const fields = copy.metadata.managedFields?.[0]?.fieldsV1 ?? {};
    assert.equal(FieldSet.decode(fields).has(['f:data', 'f:k1']), true);
    assert.throws(() => (fields['f:data'] = {}), TypeError);
    assert.throws(() => delete fields['f:data'], TypeError);
  }
});

test('what is named like owned fields and stands elsewhere is read', () => {
  const text = `{"spec":{"managedFields":{"fieldsV1":{${members}}}}}`;
  const { value } = runSync(readPieces(text, undefined, { isOurs: true })) ?? {};
  const spec = (value as { spec: { managedFields: { fieldsV1: Record<string, string> } } }).spec;
  spec.managedFields.fieldsV1['k0'] = 'changed';
  assert.equal(spec.managedFields.fieldsV1['k0'], 'changed');
});

test('the names of a large map are known to who copies and encodes it, and nothing can be added to it', () => {
  const text = `{"metadata":{},"data":{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":"v"`).join(',')}}}`;
  const object = runSync(readPieces(text, configMap, { isOurs: true, closesMaps: true }))?.value as ConfigMap;
  const { data = {} } = object;
  const stored = encodeStored(configMap, object);
  const list = mock.method(Object, 'keys');
  const copy = runSync(deepCopySteps(object, { closesMaps: true }));
  assert.equal(runSync(transferPieces(copy)).toString(), text);
  assert.equal(runSync(encodePieces(configMap, copy)).toString(), stored);
  const longest = Math.max(...list.mock.calls.map(({ result }) => result?.length ?? 0));
  list.mock.restore();
  assert.ok(longest < 100, `${longest}`);
  for (const map of [data, copy.data ?? {}]) assert.throws(() => (map['new'] = 'v'), TypeError);
  data['k0'] = 'changed';
  delete data['k1'];
  assert.match(runSync(transferPieces(object)).toString(), /"data":{"k0":"changed","k2":"v"/);
  const open = runSync(deepCopySteps(object));
  assert.equal(Object.hasOwn(open.data ?? {}, 'k1'), false);
  (open.data ?? {})['new'] = 'v';
});

test('numbers that name members stay in the order the engine has them in', () => {
  const text = `{"data":{${Array.from({ length: 20_000 }, (_, i) => `"${30_000 - i}":""`).join(',')}}}`;
  const { value } = runSync(readPieces(text, undefined, { isOurs: true, closesMaps: true })) ?? {};
  assert.equal(runSync(transferPieces(value as object)).toString(), JSON.stringify(JSON.parse(text)));
});
