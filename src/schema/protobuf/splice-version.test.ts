import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mustType } from '../catalogue.js';
import { ELEMENT_FIELD, encodeProtobuf, protobufElement, protobufEnvelopeHead } from './envelope.js';
import { spliceProtobufVersion } from './splice-version.js';

const TYPE = mustType('io.k8s.api.core.v1.ConfigMap');
const START = protobufEnvelopeHead('ConfigMap', 'v1').length;

function stored(metadata: object, data: object = {}): Buffer {
  return encodeProtobuf(TYPE, { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } as object);
}

describe('a resourceVersion in stored protobuf', () => {
  it('stands where the encoder writes it, whatever the lengths around it', () => {
    for (const length of [0, 1, 80, 100, 110, 120, 127, 128, 200, 16_200, 16_300, 16_384, 70_000]) {
      for (const version of ['7', '1234567', '9007199254740991']) {
        const metadata = { name: 'n', namespace: 'ns', uid: 'u', labels: { text: 'x'.repeat(length) } };
        const data = { other: 'y'.repeat(length) };
        const sent = { metadata: { ...metadata, resourceVersion: version }, data };
        const expected = protobufElement(TYPE, sent, ELEMENT_FIELD);
        assert.deepEqual(
          spliceProtobufVersion(stored(metadata, data), START, version),
          expected,
          `${length} ${version}`,
        );
      }
    }
  });

  it('is not put into bytes that are otherwise', () => {
    const bytes = stored({ name: 'n', resourceVersion: '3' });
    assert.equal(spliceProtobufVersion(bytes, START, '4'), undefined, 'one that has a version');
    assert.equal(spliceProtobufVersion(bytes, START + 1, '4'), undefined);
    const whole = stored({ name: 'n', uid: 'u' });
    for (let end = START; end < whole.length - 4; end++) {
      assert.equal(spliceProtobufVersion(whole.subarray(0, end), START, '4'), undefined, `cut off after ${end}`);
    }
    assert.equal(spliceProtobufVersion(Buffer.from('{"kind":"ConfigMap"}'), 0, '4'), undefined);
    assert.equal(spliceProtobufVersion(Buffer.alloc(64, 0xff), 0, '4'), undefined);
  });
});
