import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeContinue, encodeContinue } from './continue-token.js';

const token = (json: string): string => Buffer.from(json).toString('base64url');

test('a token comes back as it went', () => {
  const next = { revision: 7, start: 'n/a<b>\0' };
  assert.deepEqual(decodeContinue(encodeContinue(next)), next);
});

test('a token that is none is refused in the words of kube-apiserver', () => {
  for (const [given, words] of [
    ['*', 'illegal base64 data at input byte 0'],
    ['xx', "invalid character 'Ç' looking for beginning of value"],
    [token('{"v":'), 'unexpected end of JSON input'],
    [token('[]'), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [token('{"rv":"1"}'), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [token('{"rv":1.5}'), 'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64'],
    [token('{"v":"v2","toString":1}'), 'server does not recognize this encoded version v2'],
    [token('{"v":"meta.k8s.io/v1","rv":1,"start":"../a"}'), '../a'],
  ] as const) {
    assert.throws(() => decodeContinue(given), {
      message: `invalid continue token: continue key is not valid: ${words}`,
    });
  }
});
