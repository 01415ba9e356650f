import assert from 'node:assert/strict';
import test from 'node:test';
import { typeOf } from '../../schema/catalogue.js';
import type { StructType } from '../../schema/type.js';
import { encodeLongList } from './long-list.js';
import { MEDIA_TYPES_WITH_CBOR } from '../wire/media-types.js';
import { metaType } from './formed-value.js';
import { encodeObject } from '../wire/codec.js';

const ENCODINGS = ['json', 'protobuf', 'cbor'] as const;
const metadata = { resourceVersion: '7', continue: '"items":[],"rows":[' };

async function assertSameEncoding(type: StructType, envelope: object, member: 'items' | 'rows', elements: object[]) {
  for (const encoding of ENCODINGS) {
    const media = MEDIA_TYPES_WITH_CBOR.find((one) => one.encoding === encoding);
    assert.ok(media);
    if (encoding === 'protobuf' && (member === 'rows' || type.unstructured !== undefined)) continue;
    const list = { type, envelope: envelope as never, member, count: elements.length };
    const element = (i: number): object | Promise<object> =>
      i % 2 === 0 ? (elements[i] as object) : Promise.resolve(elements[i] as object);
    const encoded = Buffer.concat(await encodeLongList({ ...list, element }, encoding));
    const whole = encodeObject(media, type, { ...envelope, [member]: elements });
    const expected = encoding === 'json' ? Buffer.concat([whole, Buffer.from('\n')]) : whole;
    assert.equal(encoded.toString('latin1'), expected.toString('latin1'), `${type.name} ${encoding}`);
  }
}

test('a list that is encoded element by element has the bytes of the whole', async () => {
  const type = typeOf('', 'v1', 'ConfigMapList') as StructType;
  const items = Array.from({ length: 3_000 }, (_, i) => ({
    metadata: { name: `a${i}` },
    data: { a: 'x'.repeat(200) },
  }));
  for (const some of [[], items.slice(0, 1), items.slice(0, 30), items]) {
    await assertSameEncoding(type, { kind: 'ConfigMapList', apiVersion: 'v1', metadata }, 'items', some);
  }
});

test('so do tables, metadata alone and lists of custom resources', async () => {
  const envelope = { apiVersion: 'meta.k8s.io/v1', metadata };
  const column = { name: '"rows":[]', type: 'string', format: '', description: 'd', priority: 0 };
  const rows = [
    { cells: ['a', 1], object: { kind: 'PartialObjectMetadata' } },
    { cells: ['b', 2], object: null },
  ];
  const table = { ...envelope, kind: 'Table', columnDefinitions: [column] };
  await assertSameEncoding(metaType('v1', 'Table'), table, 'rows', rows);
  const items = [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }];
  const list = { ...envelope, kind: 'PartialObjectMetadataList' };
  await assertSameEncoding(metaType('v1', 'PartialObjectMetadataList'), list, 'items', items);
  const custom = { name: 'c', fields: [], byJson: new Map(), unstructured: {} } as unknown as StructType;
  await assertSameEncoding(custom, { kind: 'CList', apiVersion: 'c/v1', metadata }, 'items', [
    { spec: { b: 1, a: [1.5] } },
  ]);
});

test('encoding a long list yields to the event loop', async () => {
  const type = typeOf('', 'v1', 'ConfigMapList') as StructType;
  let yields = 0;
  const count = (): void => void yields++;
  const timer = setInterval(count, 1);
  const item = { metadata: { name: 'a', annotations: { a: 'é"'.repeat(1_000) } } };
  const envelope = { kind: 'ConfigMapList', apiVersion: 'v1' };
  await encodeLongList({ type, envelope, member: 'items', count: 3_000, element: () => item }, 'cbor');
  clearInterval(timer);
  assert.ok(yields > 0);
});
