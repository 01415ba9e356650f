import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../machinery/object.js';
import { mustType } from '../../schema/catalogue.js';
import { objectCodec } from './object-codec.js';

const codec = objectCodec(mustType('io.k8s.api.core.v1.ConfigMap'));
const data = { n: '1', t: 'two\nlines' };
const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'b' },
  data,
} as KubeObject;

const BEGINNINGS = {
  'application/vnd.kubernetes.protobuf': 'k8s\0',
  'application/json': '{"kind":"ConfigMap",',
  'application/yaml': 'apiVersion: v1\ndata:\n  "n": "1"\n',
};

for (const [mediaType, beginning] of Object.entries(BEGINNINGS)) {
  test(`what is stored as ${mediaType} is in that form, and is read whatever is written today`, () => {
    const bytes = codec.encodeStorage(object, mediaType);
    assert.equal(bytes.toString('latin1').slice(0, beginning.length), beginning);
    assert.deepEqual(codec.decodeStorage(bytes), object);
  });
}

test('what was stored in base64 long ago is read, and for what is no object at all the error is that of the base64', () => {
  for (const mediaType of Object.keys(BEGINNINGS)) {
    const wrapped = Buffer.from(codec.encodeStorage(object, mediaType).toString('base64'));
    assert.deepEqual(codec.decodeStorage(wrapped), object);
  }
  assert.throws(() => codec.decodeStorage(Buffer.from('not an object at all')), {
    message: 'illegal base64 data at input byte 3',
  });
  assert.throws(() => codec.decodeStorage(Buffer.from('{"kind":"ConfigMap"')), {
    message: 'unexpected end of JSON input',
  });
});

test('a kind of another stored shape is read in both, also where another build or server wrote what this one serves', () => {
  const shaped = objectCodec(mustType('io.k8s.api.core.v1.ConfigMap'), {
    to: ({ metadata }) => ({ kind: 'ConfigMap', apiVersion: 'v0', metadata, old: data }),
    from: ({ old, ...rest }) => (old === undefined ? rest : { ...rest, apiVersion: 'v1', data: old }),
  });
  const stored = shaped.encodeStorage(object, 'application/json');
  assert.match(stored.toString(), /"apiVersion":"v0".*\n$/);
  for (const bytes of [stored, shaped.encodeJson(object)]) {
    assert.deepEqual(shaped.decodeStorage(bytes), object);
    assert.deepEqual(shaped.renewOlder?.(bytes), shaped.encodeJson(object));
  }
});
