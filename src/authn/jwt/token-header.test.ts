import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { readTokenHeader } from './token-header.js';

const encoded = (text: string): string => Buffer.from(text).toString('base64url');
const refusal = (text: string): string => {
  try {
    readTokenHeader(encoded(text));
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

test('members of a header that make no sense spoil it, also those nobody needs', () => {
  const number = 'json: cannot unmarshal number into Go value of type string: "5"';
  assert.equal(refusal('{"alg":"RS256","kid":5}'), `failed to unmarshal key ID: ${number}`);
  assert.equal(refusal('{"alg":5}'), `failed to unmarshal algorithm: ${number}`);
  assert.equal(refusal('{"alg":"RS256","nonce":5}'), `failed to unmarshal nonce: ${number}`);
  assert.match(
    refusal('{"alg":"RS256","x5c":["AAAA"]}'),
    /^failed to unmarshal x5c header: x509: malformed certificate/,
  );
  assert.equal(
    refusal('{"alg":"RS256","jwk":{}}'),
    `failed to unmarshal JWK: go-jose/go-jose: unknown json web key type '': "{}"`,
  );
  assert.equal(refusal('[]'), 'json: cannot unmarshal array into Go value of type jose.rawHeader');
  assert.equal(refusal('{"alg":"RS256","kid":null,"jwk":null,"x5c":null}'), 'accepted');
});

test('a header names each of its members once, for readers differ in which they believe', () => {
  assert.equal(refusal('{"alg":"none","alg":"RS256"}'), "json: duplicate key 'alg' in object");
});

test('a key within a header is a public one', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const withKey = (jwk: object): string => refusal(JSON.stringify({ alg: 'ES256', jwk }));
  assert.equal(withKey(publicKey.export({ format: 'jwk' })), 'accepted');
  assert.equal(
    withKey(privateKey.export({ format: 'jwk' })),
    'go-jose/go-jose: invalid embedded jwk, must be public key',
  );
});

test('what a reader must know, and claims that are signed as they are, make a header critical', () => {
  const isCritical = (text: string): boolean => readTokenHeader(encoded(text)).isCritical;
  assert.equal(isCritical('{"alg":"RS256","crit":["exp"]}'), true);
  assert.equal(isCritical('{"alg":"RS256","b64":false}'), true);
  assert.equal(isCritical('{"alg":"RS256","b64":true,"typ":"JWT"}'), false);
});

test('a header longer than any that is in use is not looked at', () => {
  assert.equal(refusal(JSON.stringify({ alg: 'RS256', kid: 'k'.repeat(64 * 1024) })), 'the header is too long');
});
