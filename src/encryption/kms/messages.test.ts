import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeWrappedKey } from './encrypted-object.js';
import { DECRYPT_REQUEST, ENCRYPT_REQUEST, STATUS_RESPONSE, V1_REQUEST } from './messages.js';

const content = Buffer.from('xyz');
const ANNOTATIONS = '220a0a03612e62120378797a22050a03632e64';

test('requests are encoded as the KMS protocols have them', () => {
  const v1 = V1_REQUEST.encode({ version: 'v1beta1', content });
  assert.equal(v1.toString('hex'), '0a0776316265746131120378797a');
  assert.equal(ENCRYPT_REQUEST.encode({ plaintext: content, uid: 'u' }).toString('hex'), '0a0378797a120175');
  const annotations = [
    { key: 'a.b', value: content },
    { key: 'c.d', value: Buffer.alloc(0) },
  ];
  const decrypting = DECRYPT_REQUEST.encode({ ciphertext: content, uid: 'u', keyId: 'k', annotations });
  assert.equal(decrypting.toString('hex'), `0a0378797a1201751a016b${ANNOTATIONS}`);
});

test('a stored key is encoded as kube-apiserver stores it', () => {
  const annotations = new Map([
    ['a.b', content],
    ['c.d', Buffer.alloc(0)],
  ]);
  const stored = encodeWrappedKey({ keyId: 'k', source: content, annotations, sourceType: 1 });
  assert.equal(stored.toString('hex'), `12016b1a0378797a${ANNOTATIONS}2801`);
});

test('a status is read from its three texts', () => {
  const status = STATUS_RESPONSE.decode(Buffer.from('0a0276321202' + '6f6b1a016b', 'hex'));
  assert.deepEqual(status, { version: 'v2', healthz: 'ok', keyId: 'k' });
});
