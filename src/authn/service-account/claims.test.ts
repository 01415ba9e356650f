import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBoundClaims, readPublicClaims } from './claims.js';

const refusal = (read: () => unknown): string => {
  try {
    read();
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

test('claims of another type than theirs are refused in the words of kube-apiserver', () => {
  const date = 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate';
  const audience = 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience';
  const text = 'json: cannot unmarshal number into Go value of type string';
  assert.equal(
    refusal(() => readPublicClaims({ aud: 'a', exp: 5 })),
    'accepted',
  );
  assert.equal(
    refusal(() => readPublicClaims({ exp: 'x' })),
    date,
  );
  assert.equal(
    refusal(() => readPublicClaims({ aud: 5 })),
    audience,
  );
  assert.equal(
    refusal(() => readPublicClaims({ aud: null })),
    audience,
  );
  assert.equal(
    refusal(() => readPublicClaims({ aud: [5] })),
    audience,
  );
  assert.equal(
    refusal(() => readPublicClaims({ sub: 5 })),
    text,
  );
  const bound = (claims: unknown): string => refusal(() => readBoundClaims({ 'kubernetes.io': claims }));
  assert.equal(bound([]), 'json: cannot unmarshal array into Go value of type serviceaccount.kubernetes');
  assert.equal(bound({ pod: 'p' }), 'json: cannot unmarshal string into Go value of type serviceaccount.ref');
  assert.equal(bound({ namespace: 5 }), text);
  assert.equal(bound({ warnafter: 'x' }), date);
});
