// runs-on: every-node
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { readJsonWebKey } from './json-web-key.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsaJwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'r' };
const ecJwk = { ...ec.publicKey.export({ format: 'jwk' }), kid: 'e' };

const refusal = (jwk: unknown): string => {
  try {
    readJsonWebKey(jwk);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

test('public keys are accepted, whatever they say they are for', () => {
  assert.equal(readJsonWebKey(rsaJwk).key?.equals(rsa.publicKey), true);
  assert.equal(readJsonWebKey({ ...ecJwk, use: 'enc', alg: 'XX' }).id, 'e');
  assert.equal(readJsonWebKey({ ...ecJwk, kid: null }).id, '');
});

test('no token is signed by a private key, a secret, or a key of another sort', () => {
  assert.equal(readJsonWebKey({ ...rsa.privateKey.export({ format: 'jwk' }) }).key, undefined);
  assert.equal(readJsonWebKey({ ...ec.privateKey.export({ format: 'jwk' }) }).key, undefined);
  assert.equal(readJsonWebKey({ kty: 'oct', k: 'c2VjcmV0' }).key, undefined);
  assert.equal(readJsonWebKey({ kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }).key, undefined);
});

test('an invalid key is refused', () => {
  const jose = (why: string): string => `go-jose/go-jose: ${why}`;
  assert.equal(refusal({ kty: 'XYZ' }), jose("unknown json web key type 'XYZ'"));
  assert.equal(refusal(null), jose("unknown json web key type ''"));
  assert.equal(refusal(5), 'json: cannot unmarshal number into Go value of type jose.rawJSONWebKey');
  assert.equal(refusal({ ...rsaJwk, kid: 5 }), 'json: cannot unmarshal number into Go value of type string');
  assert.equal(refusal({ kty: 'RSA' }), jose('invalid RSA key, missing n/e values'));
  assert.equal(refusal({ ...rsaJwk, n: '!!' }), 'illegal base64 data at input byte 0');
  assert.equal(refusal({ ...rsaJwk, d: 'AAAA' }), jose('invalid RSA private key, missing P value(s)'));
  assert.equal(refusal({ ...ecJwk, crv: 'secp256k1' }), jose("unsupported elliptic curve 'secp256k1'"));
  assert.equal(refusal({ ...ecJwk, x: undefined }), jose('invalid EC key, missing x/y values'));
  assert.equal(refusal({ ...ecJwk, x: 'AAAA' }), jose('invalid EC public key, wrong length for x'));
  const elsewhere = { ...ecJwk, y: ecJwk.x };
  assert.equal(refusal(elsewhere), jose('invalid EC key, X/Y are not on declared curve'));
  assert.equal(refusal({ kty: 'oct' }), jose('invalid OCT (symmetric) key, missing k value'));
  assert.equal(refusal({ kty: 'OKP', crv: 'X25519', x: 'AAAA' }), jose("unknown curve X25519'"));
});

test('certificates and thumbprints beside a key must fit it', () => {
  const jose = (why: string): string => `go-jose/go-jose: ${why}`;
  assert.match(refusal({ ...rsaJwk, x5c: ['AAAA'] }), /^go-jose\/go-jose: failed to unmarshal x5c field: /);
  assert.equal(refusal({ ...rsaJwk, x5c: 'AAAA' }), 'json: cannot unmarshal string into Go value of type []string');
  assert.equal(refusal({ ...rsaJwk, x5t: 'AAAA' }), jose('invalid JWK, x5t header is of incorrect size'));
  assert.equal(refusal({ ...rsaJwk, 'x5t#S256': '!' }), jose('invalid JWK, x5t#S256 header has invalid encoding'));
  const digits = createHash('sha256').update('x').digest('hex');
  assert.equal(refusal({ ...rsaJwk, 'x5t#S256': Buffer.from(digits).toString('base64url') }), 'accepted');
  assert.equal(refusal({ ...rsaJwk, x5u: 'https://x' }), 'json: cannot unmarshal string into Go value of type url.URL');
});
