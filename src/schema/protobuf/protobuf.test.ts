import assert from 'node:assert/strict';
import test from 'node:test';
import { metaType, mustType } from '../catalogue.js';
import { decodeJson } from '../json/decode.js';
import { encodeJson } from '../json/encode.js';
import { DecodeError } from '../json/walk.js';
import type { StructType } from '../type.js';
import { decodeMessage } from './decode.js';
import { encodeMessage } from './encode.js';
import { decodeProtobuf, encodeProtobuf, readEnvelope } from './envelope.js';
import { FRAME_HEAD_BYTES, protobufWatchEvent } from './frames.js';

const configMap = mustType('io.k8s.api.core.v1.ConfigMap');

test('what is no pointer is on the wire even when it is empty', () => {
  const message = encodeMessage(mustType('io.k8s.api.core.v1.LocalObjectReference'), {});
  assert.equal(message.toString('hex'), '0a00');
  const toleration = encodeMessage(mustType('io.k8s.api.core.v1.Toleration'), { key: 'a', tolerationSeconds: -1 });
  assert.equal(toleration.toString('hex'), '0a0161' + '1200' + '1a00' + '2200' + '28ffffffffffffffffff01');
});

test('the envelope holds kind and version, and the object reads back with them', () => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { b: '2', a: '1' } };
  const bytes = encodeProtobuf(configMap, object);
  assert.equal(bytes.toString('latin1', 0, 4), 'k8s\0');
  const envelope = readEnvelope(bytes);
  assert.deepEqual([envelope.kind, envelope.apiVersion, envelope.contentType], ['ConfigMap', 'v1', '']);
  assert.deepEqual(decodeProtobuf(configMap, bytes), object);
});

test('inlined types are messages of their own', () => {
  const volume = mustType('io.k8s.api.core.v1.Volume');
  const message = encodeMessage(volume, { name: 'v', emptyDir: {} });
  assert.equal(message.toString('hex'), '0a0176' + '12041202' + '0a00');
  assert.deepEqual(decodeMessage(volume, message), { name: 'v', emptyDir: {} });
});

test('field sets with the same text are one, whatever they are decoded from, and keep the bytes they had', () => {
  const entryOf = (fieldsV1: unknown): object => ({ metadata: { managedFields: [{ fieldsV1 }] } });
  const setOf = (object: Record<string, unknown>): unknown =>
    (object as { metadata: { managedFields: { fieldsV1?: unknown }[] } }).metadata.managedFields[0]?.fieldsV1;
  const sets: readonly unknown[] = [
    {},
    { 'f:data': { '.': {}, 'k:{"name":"é"}': {} } },
    { 'f:a': ' ', 'f:b': [null, 1] },
  ];
  for (const fields of sets) {
    const json = JSON.stringify(entryOf(fields));
    const message = encodeMessage(configMap, entryOf(fields));
    const set = setOf(decodeMessage(configMap, message));
    assert.deepEqual(set, fields);
    assert.equal(setOf(decodeMessage(configMap, message)), set);
    assert.equal(setOf(decodeJson(configMap, json, { strict: true }).object), set);
    assert.throws(() => Object.assign(set as object, { 'f:c': {} }), TypeError);
    assert.deepEqual(encodeMessage(configMap, entryOf(set)), message);
    assert.equal(encodeJson(configMap, entryOf(set)).includes(JSON.stringify(fields)), true);
  }
});

test('a field set that is no JSON, or nothing, is none', () => {
  const meta = metaType('ObjectMeta');
  const entry = metaType('ManagedFieldsEntry');
  const fieldSet = (text: string): Buffer => {
    const raw = Buffer.from(text);
    return Buffer.concat([Buffer.from([0x3a, raw.length + 2, 0x0a, raw.length]), raw]);
  };
  for (const text of ['', '{', '{"f:a":}', 'null', '{"f:a":{}} x']) {
    assert.equal(decodeMessage(entry, fieldSet(text))['fieldsV1'], null, text);
  }
  assert.deepEqual(decodeMessage(entry, fieldSet(' {"f:b" : {},"f:a":{}}'))['fieldsV1'], { 'f:b': {}, 'f:a': {} });
  const sent = { managedFields: [decodeMessage(entry, fieldSet('{"f:<":{}}'))] };
  assert.match(encodeJson(meta, sent), /"fieldsV1":\{"f:\\u003c":\{\}\}/);
});

test('unknown fields are passed over, wrong wire types are refused', () => {
  const message = Buffer.concat([
    encodeMessage(configMap, { metadata: { name: 'a' } }),
    Buffer.from('f80601' + 'fa0603616263' + 'f106' + '00'.repeat(8) + 'f506' + '00'.repeat(4), 'hex'),
  ]);
  assert.deepEqual(decodeMessage(configMap, message), { metadata: { name: 'a' } });
  assert.throws(() => decodeMessage(configMap, Buffer.from('0801', 'hex')), /wrong wireType = 0 for field ObjectMeta/);
  assert.throws(() => decodeMessage(configMap, Buffer.from('0affffffff0f', 'hex')), /unexpected EOF/);
  assert.throws(() => decodeMessage(configMap, Buffer.from('0a0b3affffffffffffffffffff01', 'hex')), DecodeError);
});

test('a message that comes twice is one: what the second leaves out stays, lists grow', () => {
  const field = (type: StructType, json: string, ...bytes: readonly Buffer[]): Buffer => {
    const content = Buffer.concat(bytes);
    const tag = (type.byJson.get(json)?.proto ?? 0) * 8 + 2;
    const tagAndLength = [...(tag < 128 ? [tag] : [(tag % 128) + 128, Math.floor(tag / 128)]), content.length];
    return Buffer.concat([Buffer.from(tagAndLength), content]);
  };
  const meta = metaType('ObjectMeta');
  const first = { name: 'a', namespace: 'n', finalizers: ['x'], labels: { a: '1' } };
  const second = [field(meta, 'name', Buffer.from('b')), field(meta, 'finalizers', Buffer.from('y'))];
  const twice = [encodeMessage(configMap, { metadata: first }), field(configMap, 'metadata', ...second)];
  assert.deepEqual(decodeMessage(configMap, Buffer.concat(twice)), {
    metadata: { ...first, name: 'b', finalizers: ['x', 'y'] },
  });

  const props = mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  const of = { items: { type: 'string' }, default: { a: 1 }, additionalProperties: { type: 'object' } };
  const title = field(props, 'title', Buffer.from('t'));
  const inner = (number: number): Buffer => Buffer.concat([Buffer.from([number * 8 + 2, title.length]), title]);
  const more = [
    field(props, 'items', inner(1)),
    field(props, 'additionalProperties', inner(2)),
    field(props, 'default'),
  ];
  assert.deepEqual(decodeMessage(props, Buffer.concat([encodeMessage(props, of), ...more])), {
    items: { type: 'string', title: 't' },
    default: { a: 1 },
    additionalProperties: { type: 'object', title: 't' },
  });
});

test('fields without a number and ends of groups are refused, with the message they stand in', () => {
  const refuses = (hex: string, why: RegExp) => {
    assert.throws(() => decodeMessage(configMap, Buffer.from(hex, 'hex')), why);
  };
  refuses('0200', /proto: ConfigMap: illegal tag 0 \(wire type 2\)$/);
  refuses('0c', /proto: ConfigMap: wiretype end group for non-group/);
  refuses('fc06', /proto: ConfigMap: wiretype end group for non-group/);
  refuses('0a020200', /proto: ObjectMeta: illegal tag 0 \(wire type 2\)/);
  assert.deepEqual(decodeMessage(configMap, Buffer.from('fb06fc06', 'hex')), { metadata: {} });
});

test('messages that scalars are refuse wrong wire types too, and entries of maps do not look at them', () => {
  const meta = mustType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  const read = (hex: string): unknown => decodeMessage(meta, Buffer.from(hex, 'hex'));
  assert.throws(() => read('42020a00'), /wrong wireType = 2 for field Seconds$/);
  assert.throws(() => read('42020200'), /proto: Timestamp: illegal tag 0 \(wire type 2\)$/);
  assert.throws(() => read('2801'), /wrong wireType = 0 for field UID$/);
  assert.throws(() => read('0affffffffffffffffff01'), /negative length found during unmarshaling$/);
  assert.throws(() => read('808080808001' + '00'), /ObjectMeta: illegal tag 0 \(wire type 34359738368\)$/);
  assert.deepEqual(read('5a06080161100162'), { labels: { a: 'b' } });
  const limits = mustType('io.k8s.api.core.v1.ResourceRequirements');
  assert.throws(
    () => decodeMessage(limits, Buffer.from('0a07' + '0a0163' + '12020a00', 'hex')),
    /quantities must match/,
  );
});

test('what is no envelope is refused in the words of kube-apiserver', () => {
  assert.throws(() => readEnvelope(Buffer.alloc(0)), /empty data/);
  assert.throws(
    () => readEnvelope(Buffer.from('{}')),
    /does not appear to be a protobuf message, expected prefix \[107 56 115 0\]/,
  );
  assert.throws(() => readEnvelope(Buffer.from('k8s\0')), /empty body/);
  const refuses = (hex: string, why: RegExp) => {
    assert.throws(() => readEnvelope(Buffer.from(`6b387300${hex}`, 'hex')), why);
  };
  refuses('0801', /proto: wrong wireType = 0 for field TypeMeta$/);
  refuses('1001', /wrong wireType = 0 for field Raw$/);
  refuses('0a021001', /wrong wireType = 0 for field Kind$/);
  refuses('0c', /proto: Unknown: wiretype end group for non-group$/);
  refuses('0200', /proto: Unknown: illegal tag 0 \(wire type 2\)$/);
});

test('the kind in an envelope may come in parts', () => {
  const { kind, apiVersion } = readEnvelope(Buffer.from('6b387300' + '0a040a027631' + '0a0312014b', 'hex'));
  assert.deepEqual([apiVersion, kind], ['v1', 'K']);
});

test('integers beyond 2^53 keep every digit', () => {
  const type = metaType('ListMeta');
  for (const count of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, 5, -1, 2 ** 40]) {
    assert.deepEqual(decodeMessage(type, encodeMessage(type, { remainingItemCount: count })), {
      remainingItemCount: count,
    });
  }
});

test('a watch event says its length, its type and its object', () => {
  const object = encodeProtobuf(configMap, { kind: 'ConfigMap', apiVersion: 'v1' });
  const event = protobufWatchEvent('ADDED', object);
  assert.equal(event.readUInt32BE(0), event.length - FRAME_HEAD_BYTES);
  assert.equal(event.toString('latin1', FRAME_HEAD_BYTES + 2, FRAME_HEAD_BYTES + 7), 'ADDED');
  assert.deepEqual(event.subarray(-object.length), Buffer.from(object));
});
