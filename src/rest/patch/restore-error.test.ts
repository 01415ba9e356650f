import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeOf } from '../../schema/catalogue.js';
import { DecodeError, decodeTree } from '../../schema/json/decode.js';
import { restoreError } from './restore-error.js';

function errorOf(kind: string, tree: object): string {
  const type = typeOf('', 'v1', kind);
  assert.ok(type);
  try {
    decodeTree(type, tree, { strict: false });
  } catch (error) {
    assert.ok(error instanceof DecodeError);
    return restoreError(error);
  }
  throw new Error('the tree was accepted');
}

test('a value of the wrong sort is reported by what Go could not convert', () => {
  const pod = (spec: object): string => errorOf('Pod', { spec });
  assert.equal(pod({ nodeName: 7 }), 'cannot convert int64 to string');
  assert.equal(pod({ nodeName: 1.5 }), 'unrecognized type: string');
  assert.equal(pod({ nodeName: {} }), 'unrecognized type: string');
  assert.equal(pod({ restartPolicy: 7 }), 'cannot convert int64 to v1.RestartPolicy');
  assert.equal(pod({ hostNetwork: 'x' }), 'unrecognized type: bool');
  assert.equal(pod({ priority: 'x' }), 'unrecognized type: int32');
  assert.equal(pod({ priority: 1.5 }), 'cannot convert float64 to int32');
  assert.equal(pod({ containers: 7 }), 'cannot restore slice from int64');
  assert.equal(pod({ nodeSelector: [] }), 'cannot restore map from slice');
  assert.equal(pod({ securityContext: 'x' }), 'cannot restore struct from: string');
});

test('bytes and times read themselves', () => {
  assert.equal(errorOf('ConfigMap', { binaryData: { a: {} } }), 'cannot restore slice from map');
  assert.equal(
    errorOf('ConfigMap', { binaryData: { a: 'other' } }),
    'error decoding from json: illegal base64 data at input byte 4',
  );
  assert.equal(
    errorOf('ConfigMap', { metadata: { creationTimestamp: 7 } }),
    'json: cannot unmarshal number into Go value of type string',
  );
});
