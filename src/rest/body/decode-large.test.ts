import assert from 'node:assert/strict';
import test from 'node:test';
import { typeOf } from '../../schema/catalogue.js';
import { encodeCborTree } from '../../schema/cbor/encode.js';
import { DecodeError } from '../../schema/json/decode.js';
import { encodeProtobuf } from '../../schema/protobuf/envelope.js';
import type { StructType } from '../../schema/type.js';
import { encodeYaml } from '../../schema/yaml/encode.js';
import { convertInline } from '../wire/convert-bytes.js';
import { decodeLarge, type PatchTree, readLargePatch, readPatch } from './decode-large.js';
import { MEDIA_TYPES_WITH_CBOR, type MediaType } from '../wire/media-types.js';
import { decodeObject, WireError } from '../wire/codec.js';

const type = typeOf('', 'v1', 'ConfigMap') as StructType;
const custom = {
  ...type,
  unstructured: {
    coerce: (tree: object) => ('zzz' in tree ? ['zzz'] : []),
    readMetadata: () => undefined,
    dropUnreadable: () => undefined,
  },
} as unknown as StructType;

const media = (encoding: string): MediaType =>
  MEDIA_TYPES_WITH_CBOR.find((one) => one.encoding === encoding) as MediaType;

/** More than is read at once, in maps that CBOR accepts. */
const annotations = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`k${i}`, 'x'.repeat(200)]));
const object = (more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', annotations, labels: {} },
  ...more,
});

async function outcome(decode: () => unknown): Promise<unknown> {
  try {
    return await decode();
  } catch (error) {
    assert.ok(error instanceof WireError || error instanceof DecodeError, String(error));
    const { message } = error;
    return error instanceof WireError ? { message, kind: error.kind, apiVersion: error.apiVersion } : { message };
  }
}

async function readsTheSame(encoding: string, body: string | Buffer, of = type): Promise<unknown> {
  const bytes = Buffer.from(body);
  for (const strict of [true, false]) {
    const expected = await outcome(() => decodeObject(media(encoding), of, bytes, strict));
    const found = await outcome(() => decodeLarge(convertInline, { media: media(encoding), type: of, bytes, strict }));
    assert.deepEqual(found, expected, `${encoding} ${strict}`);
    if (!strict) return expected;
  }
  return undefined;
}

test('a large object reads as a small one does, in every form', async () => {
  for (const of of [type, custom]) {
    await readsTheSame('json', JSON.stringify(object()), of);
    await readsTheSame('yaml', encodeYaml(object()), of);
    await readsTheSame('yaml', JSON.stringify(object()), of);
    await readsTheSame('cbor', encodeCborTree(object()), of);
  }
  await readsTheSame('protobuf', encodeProtobuf(type, object()));
  await readsTheSame('protobuf', encodeProtobuf(type, object()), custom);
});

test('what a strict reader says of a large object is the same, in every form', async () => {
  const unknown = object({ zzz: 1, data: { a: 'b' }, yyy: { a: 1.5 } });
  for (const of of [type, custom]) {
    await readsTheSame('json', JSON.stringify(unknown), of);
    await readsTheSame('yaml', encodeYaml(unknown), of);
    await readsTheSame('cbor', encodeCborTree(unknown), of);
    const twice = JSON.stringify(unknown).replace('"data":{', '"data":{"a":"first",');
    await readsTheSame('json', twice, of);
    await readsTheSame('yaml', `${encodeYaml(unknown)}kind: ConfigMap\n`, of);
  }
});

test('the error of a large body has the words of a small one, in every form', async () => {
  const wrong = object({ data: { a: 1e17 } });
  await readsTheSame('json', JSON.stringify(wrong));
  await readsTheSame('yaml', encodeYaml(wrong));
  await readsTheSame('cbor', encodeCborTree(wrong));
  const text = JSON.stringify(object());
  const broken = await readsTheSame('json', text.slice(0, -3));
  assert.match(JSON.stringify(broken), /unexpected end of JSON input/);
  await readsTheSame('json', text.slice(0, -3), custom);
  await readsTheSame('json', `[${text}]`, custom);
  await readsTheSame('yaml', `${encodeYaml(object())}\t- a`);
  await readsTheSame('cbor', encodeCborTree(object()).subarray(0, 150_000));
  await readsTheSame('protobuf', encodeProtobuf(type, object()).subarray(0, 150_000));
});

test('a large patch reads as a small one does', async () => {
  const text = JSON.stringify(object());
  const patches = [
    ['json', text],
    ['json', text.replace('{', '{"kind":"a",')],
    ['json', text.slice(0, -1)],
    ['yaml', text],
    ['yaml', encodeYaml(object())],
    ['yaml', `${encodeYaml(object())}kind: a\n`],
    ['yaml', `${encodeYaml(object())}\t- a`],
    ['cbor', encodeCborTree(object())],
    ['cbor', encodeCborTree(object()).subarray(0, 150_000)],
  ] as const;
  for (const [encoding, body] of patches) {
    const bytes = Buffer.from(body);
    const plain = async (read: () => unknown): Promise<unknown> => {
      const { unmatchable: _tests, ...found } = (await outcome(read)) as PatchTree;
      return { ...found, strictError: found.strictError };
    };
    const expected = await plain(() => readPatch(encoding, bytes));
    assert.deepEqual(await plain(() => readLargePatch(convertInline, encoding, bytes)), expected, encoding);
  }
});

test('tests of a large JSON patch that hold for nothing are found, as those of a small one', async () => {
  const padding = { op: 'add', path: '/data', value: { text: 'x'.repeat(300_000) } };
  const tests = ['a<b', 'plain', 'a&b'].map((value) => ({ op: 'test', path: '/data/x', value }));
  const bytes = Buffer.from(JSON.stringify([...tests, padding]));
  const { unmatchable } = await readLargePatch(convertInline, 'json', bytes);
  assert.deepEqual([...(unmatchable?.() ?? [])], [0, 2]);
  assert.deepEqual(unmatchable?.(), readPatch('json', bytes).unmatchable?.());
});

test('what a large object names twice reads as that of a small one does', async () => {
  const text = JSON.stringify(object({ data: { a: '1' } }));
  const read = await readsTheSame('json', text.replace('"data":', '"data":{"b":"2"},"data":'));
  assert.deepEqual((read as { object: { data: unknown } }).object.data, { a: '1', b: '2' });
  await readsTheSame('json', text.replace('"data":', '"data":5,"data":'));
});
