import assert from 'node:assert/strict';
import test from 'node:test';
import { horizontalPodAutoscalers } from '../../apis/autoscaling/horizontal-pod-autoscaler.js';
import { configMaps } from '../../apis/core/configmap/definition.js';
import type { KindDefinition } from '../../registry/kind.js';
import { typeOf } from '../../schema/catalogue.js';
import { decodeJson } from '../../schema/json/decode.js';
import { encodeProtobuf } from '../../schema/protobuf/envelope.js';
import type { StructType } from '../../schema/type.js';
import { TestApi } from '../../server/testing/test-api.js';
import { metaType } from './formed-value.js';
import { frameEvent } from '../wire/codec.js';
import { MEDIA_TYPES_WITH_CBOR, type MediaType } from '../wire/media-types.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const METADATA = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const METADATA_LIST = `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
const media = MEDIA_TYPES_WITH_CBOR.find(({ encoding }) => encoding === 'protobuf') as MediaType;
const MAPS = '/api/v1/namespaces/a/configmaps';
const SCALERS = '/apis/autoscaling/v1/namespaces/a/horizontalpodautoscalers';

async function filled(): Promise<TestApi> {
  const api = new TestApi({ kinds: [configMaps, horizontalPodAutoscalers] as unknown as KindDefinition[] });
  for (const name of ['one', 'two', 'three']) {
    const map = { metadata: { name, labels: { name } }, data: { k: `é ${name}` }, binaryData: { b: 'AAEC' } };
    assert.equal((await api.post(MAPS, map)).status, 201);
  }
  const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
  const metrics = [{ type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 7 } }];
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify(metrics) };
  const scaler = { metadata: { name: 'h', annotations }, spec: { maxReplicas: 3, scaleTargetRef } };
  assert.equal((await api.post(SCALERS, scaler)).status, 201);
  return api;
}

/** What the plain encoder makes of the same answer in JSON. */
async function plainly(api: TestApi, type: StructType, target: string, accept = 'application/json'): Promise<Buffer> {
  const { bytes } = await api.get(target, { accept });
  return encodeProtobuf(type, decodeJson(type, bytes, { strict: false }).object);
}

const hex = (bytes: Buffer): string => bytes.toString('hex');

test('objects and lists joined from kept bytes are those of the plain encoder, on every request', async () => {
  const api = await filled();
  const cases: [string, string, StructType][] = [
    [`${MAPS}/one`, PROTOBUF, typeOf('', 'v1', 'ConfigMap') as StructType],
    [MAPS, PROTOBUF, typeOf('', 'v1', 'ConfigMapList') as StructType],
    [`${MAPS}?limit=2`, PROTOBUF, typeOf('', 'v1', 'ConfigMapList') as StructType],
    [`${MAPS}?labelSelector=name%3Dnone`, PROTOBUF, typeOf('', 'v1', 'ConfigMapList') as StructType],
    [`${SCALERS}/h`, PROTOBUF, typeOf('autoscaling', 'v1', 'HorizontalPodAutoscaler') as StructType],
    [SCALERS, PROTOBUF, typeOf('autoscaling', 'v1', 'HorizontalPodAutoscalerList') as StructType],
    [`${MAPS}/one`, METADATA, metaType('v1', 'PartialObjectMetadata')],
    [MAPS, METADATA_LIST, metaType('v1', 'PartialObjectMetadataList')],
  ];
  for (const round of [1, 2, 3]) {
    for (const [target, accept, type] of cases) {
      const { bytes, recorded } = await api.get(target, { accept });
      const json = accept.replace(PROTOBUF, 'application/json');
      assert.equal(hex(bytes), hex(await plainly(api, type, target, json)), `${target} ${accept} ${round}`);
      const text = (await api.get(target, { accept: json })).bytes.toString().trim();
      assert.equal(recorded.answered?.trim(), text, `${target} ${accept}`);
    }
    await api.patch(`${MAPS}/one`, 'application/merge-patch+json', { data: { round: String(round) } });
  }
});

test('what is replaced or deleted is not kept in other forms', async () => {
  const api = await filled();
  // What was just written is not kept: only what is read later is.
  await api.get(MAPS, { accept: PROTOBUF });
  assert.equal(api.encoded.heldBytes, 0);
  await api.advance(0);
  await api.get(`${MAPS}/one`, { accept: PROTOBUF });
  assert.ok(api.encoded.heldBytes > 0);
  for (const name of ['one', 'two']) await api.delete(`${MAPS}/${name}`);
  assert.equal(api.encoded.heldBytes, 0);
});

test('events are those of the plain encoder, and all watchers in one form get the same bytes', async () => {
  const api = await filled();
  const type = typeOf('', 'v1', 'ConfigMap') as StructType;
  for (const accept of [PROTOBUF, METADATA]) {
    const formed = accept === PROTOBUF ? type : metaType('v1', 'PartialObjectMetadata');
    const json = accept.replace(PROTOBUF, 'application/json');
    const target = `${MAPS}?watch=true&fieldSelector=metadata.name%3Done`;
    const [first, second, plain] = await Promise.all([
      api.watch(target, { accept }),
      api.watch(target, { accept }),
      api.watch(target, { accept: json }),
    ]);
    const expectSame = async (): Promise<void> => {
      const { type: happened, object } = await plain.next();
      const decoded = decodeJson(formed, JSON.stringify(object), { strict: false }).object;
      const expected = frameEvent(media, happened, encodeProtobuf(formed, decoded));
      assert.equal(hex(await first.nextBytes()), hex(expected));
      assert.equal(hex(await second.nextBytes()), hex(expected));
    };
    await expectSame();
    await api.patch(`${MAPS}/one`, 'application/merge-patch+json', { data: { accept } });
    await expectSame();
    for (const watch of [first, second, plain]) watch.stop();
  }
});
