import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../apis/core/configmap/definition.js';
import type { KindDefinition } from '../../registry/kind.js';
import { typeOf } from '../../schema/catalogue.js';
import { decodeJson } from '../../schema/json/decode.js';
import type { StructType } from '../../schema/type.js';
import { type Answer, TestApi } from '../../server/testing/test-api.js';
import { JSON_TYPE, MEDIA_TYPES_WITH_CBOR } from '../wire/media-types.js';
import { metaType } from './formed-value.js';
import { encodeObject } from '../wire/codec.js';

const MAPS = '/api/v1/namespaces/n/configmaps';
const transform = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

/** Maps of that many characters each. */
async function filled(sizes: readonly number[]): Promise<TestApi> {
  const api = new TestApi({ kinds: [configMaps] as readonly KindDefinition[] });
  for (const [i, size] of sizes.entries()) {
    await api.post(MAPS, { metadata: { name: `m${i}` }, data: { a: 'é: "x"\n'.repeat(size / 8), b: '1' } });
  }
  return api;
}

/** Each form is that of the object whose JSON was answered. */
async function hasEveryForm(api: TestApi, path: string, type: StructType): Promise<void> {
  const json = (await api.get(path)).bytes;
  const { object } = decodeJson(type, json, { strict: true });
  for (const media of MEDIA_TYPES_WITH_CBOR) {
    const { bytes, headers } = await api.get(path, { accept: media.name });
    const expected = media.encoding === 'json' ? json : encodeObject(media, type, object);
    assert.equal(headers['content-type'], media.name);
    assert.ok(bytes.equals(expected), `${path} ${media.name}`);
  }
  const pretty = (await api.get(`${path}?pretty=true`)).bytes.toString();
  assert.equal(pretty, JSON.stringify(JSON.parse(json.toString()), undefined, 2));
}

const asKind = (api: TestApi, path: string, kind: string): Promise<Answer> =>
  api.get(path, { accept: transform(kind) });

test('large objects, and lists that are long or have something large in them, are answered in every form', async () => {
  const objectType = typeOf('', 'v1', 'ConfigMap') as StructType;
  const listType = typeOf('', 'v1', 'ConfigMapList') as StructType;
  const mixed = await filled([8, 200_000, 8]);
  await hasEveryForm(mixed, `${MAPS}/m1`, objectType);
  await hasEveryForm(mixed, MAPS, listType);
  await hasEveryForm(await filled(Array.from({ length: 40 }, () => 8_000)), MAPS, listType);
});

test('tables and metadata of them have a row and an item for each', async () => {
  const api = await filled([8, 200_000, 8]);
  const rows = ['m0', 'm1', 'm2'];
  const table = await asKind(api, MAPS, 'Table');
  assert.deepEqual(
    table.body.rows.map(({ cells, object }) => [cells[0], object?.metadata.name]),
    rows.map((name) => [name, name]),
  );
  const encoded = encodeObject(JSON_TYPE, metaType('v1', 'Table'), table.body);
  assert.equal(table.bytes.toString(), `${encoded.toString()}\n`);
  const list = await asKind(api, MAPS, 'PartialObjectMetadataList');
  assert.deepEqual(
    list.body.items.map(({ metadata }) => metadata.name),
    rows,
  );
  const one = await asKind(api, `${MAPS}/m1`, 'PartialObjectMetadata');
  assert.equal(one.body.metadata.name, 'm1');
  assert.equal((await asKind(api, `${MAPS}/m1`, 'Table')).body.rows.length, 1);
});

test('a watch sends large and small objects in their order, in every form', async () => {
  const api = await filled([8, 200_000, 8]);
  for (const media of MEDIA_TYPES_WITH_CBOR.filter(({ streamName }) => streamName !== undefined)) {
    const watch = await api.watch(`${MAPS}?watch=true`, { accept: media.name });
    let bytes = Buffer.alloc(0);
    while (!['m0', 'm1', 'm2'].every((name) => bytes.includes(name))) {
      bytes = Buffer.concat([bytes, await watch.nextBytes()]);
    }
    const places = ['m0', 'm1', 'm2'].map((name) => bytes.indexOf(name));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      media.name,
    );
    assert.ok(bytes.length > 200_000, media.name);
    watch.stop();
    await watch.ended;
  }
});
