// runs-on: every-node
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { describe, it } from 'node:test';
import { aesCbc } from './aes-cbc.js';
import { aesGcm } from './aes-gcm.js';
import { identity } from './identity.js';
import { decryptSeeded, Seed, encryptSeeded } from './kms/seeded.js';
import { pooledRandom } from './random.js';
import { secretbox } from './secretbox.js';
import { encryptWhole } from './testing.js';
import type { Encrypter } from './transformer.js';

const place = { key: '/registry/secrets/a/b', resource: 'secrets' };
const plain = Buffer.from('{"kind":"Secret","data":{"word":"c3dvcmRmaXNo"}}');
const key = Buffer.alloc(32, 7);
const random = crypto.randomBytes;

const encrypters: [
  string,
  () => Encrypter | Promise<Encrypter>,
  { bound: boolean; around: number; proven: boolean },
][] = [
  ['aesgcm', () => aesGcm(key, random), { bound: true, around: 28, proven: true }],
  ['aescbc', () => aesCbc(key, random), { bound: false, around: 16 + 16, proven: false }],
  ['secretbox', () => secretbox(key, random), { bound: false, around: 40, proven: true }],
  [
    'a derived key',
    () => ({
      encrypt: (value, { key: at }) => encryptSeeded(new Seed(key), random, value, at),
      decrypt: (value, { key: at }) => ({ plain: decryptSeeded(new Seed(key), value, at), stale: false }),
    }),
    { bound: true, around: 60, proven: true },
  ],
];
for (const [name, make, { bound, around, proven }] of encrypters) {
  describe(name, () => {
    it('decrypts what it encrypted, which shows nothing of it', async () => {
      const encrypter = await make();
      const encrypted = await encryptWhole(encrypter, plain, place);
      assert.ok(!encrypted.includes('swordfish') && !encrypted.includes('c3dvcmRmaXNo'));
      assert.ok(encrypted.length > plain.length && encrypted.length <= plain.length + around);
      assert.deepEqual((await encrypter.decrypt(encrypted, place)).plain, plain);
      assert.notDeepEqual(await encryptWhole(encrypter, plain, place), encrypted);
    });

    it(`is ${bound ? '' : 'not '}bound to its place`, async () => {
      const encrypter = await make();
      const encrypted = await encryptWhole(encrypter, plain, place);
      const decrypt = async () =>
        (await encrypter.decrypt(encrypted, { ...place, key: '/registry/secrets/a/c' })).plain;
      if (bound) await assert.rejects(decrypt, /message authentication failed/);
      else assert.deepEqual(await decrypt(), plain);
    });

    it('fails on every truncation', async () => {
      const encrypter = await make();
      const encrypted = await encryptWhole(encrypter, plain, place);
      for (let length = 0; length < encrypted.length; length++) {
        let decrypted: Buffer | undefined;
        try {
          decrypted = (await encrypter.decrypt(encrypted.subarray(0, length), place)).plain;
        } catch {
          continue;
        }
        // Without a tag, whole blocks less may end in something like a padding, but never in what was encrypted.
        assert.ok(!proven && !decrypted.equals(plain), `decrypted at ${length} of ${encrypted.length}`);
      }
    });

    it('notices every flipped bit, if it vouches for anything', async () => {
      const encrypter = await make();
      const encrypted = Buffer.from(await encryptWhole(encrypter, plain, place));
      for (let at = 0; at < encrypted.length; at++) {
        encrypted[at] = (encrypted[at] ?? 0) ^ 1;
        let decrypted: Buffer | undefined;
        try {
          decrypted = (await encrypter.decrypt(encrypted, place)).plain;
        } catch {
          decrypted = undefined;
        }
        if (proven) assert.equal(decrypted, undefined);
        else assert.ok(decrypted === undefined || !decrypted.equals(plain));
        encrypted[at] = (encrypted[at] ?? 0) ^ 1;
      }
    });
  });
}

it('aescbc says that nothing authenticates what it decrypted', () => {
  const encrypter = aesCbc(key, random);
  const encrypted = encryptWhole(encrypter, plain, place);
  assert.ok(Buffer.isBuffer(encrypted));
  const decrypted = encrypter.decrypt(encrypted, place);
  assert.ok(!(decrypted instanceof Promise) && decrypted.unproven);
});

it('identity refuses what is encrypted, and decrypts everything else', () => {
  assert.throws(() => identity.decrypt(Buffer.from('k8s:enc:aesgcm:v1:a:x'), place), /tried to read encrypted data/);
  for (const text of ['{"a":1}', 'k8s\0abc', '', 'k8s:en']) {
    assert.deepEqual(identity.decrypt(Buffer.from(text), place), { plain: Buffer.from(text), stale: false });
  }
});

it('secretbox is the one of NaCl', async () => {
  const vector = {
    key: '1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389',
    nonce: '69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37',
    plain:
      'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f4' +
      '1db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52' +
      'f0a089bc76897040e082f937763848645e0705',
    encrypted:
      'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b' +
      '4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da' +
      '99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5',
  };
  const encrypter = await secretbox(Buffer.from(vector.key, 'hex'), () => Buffer.from(vector.nonce, 'hex'));
  const encrypted = await encryptWhole(encrypter, Buffer.from(vector.plain, 'hex'), place);
  assert.equal(encrypted.toString('hex'), vector.nonce + vector.encrypted);
});

it('a derived key is the first block of an HKDF expansion', () => {
  const seed = Buffer.alloc(32, 3);
  const encrypted = Buffer.concat(encryptSeeded(new Seed(seed), (size) => Buffer.alloc(size, 9), plain, place.key));
  const info = encrypted.subarray(0, 32);
  const derived = Buffer.from(
    crypto
      .createHmac('sha256', seed)
      .update(Buffer.concat([info, Buffer.of(1)]))
      .digest(),
  );
  const decrypted = aesGcm(derived, random).decrypt(encrypted.subarray(32), place);
  assert.deepEqual(decrypted, { plain, stale: false });
});

it('random bytes that are read many at a time are used once', () => {
  const pooled = pooledRandom();
  const nonces = Array.from({ length: 2000 }, () => pooled(12));
  const large = pooled(10_000);
  const copies = nonces.map((bytes) => bytes.toString('hex'));
  assert.equal(new Set(copies).size, nonces.length);
  assert.equal(large.length, 10_000);
  // Earlier nonces stay as they were, whatever is read later.
  assert.deepEqual(
    nonces.map((bytes) => bytes.toString('hex')),
    copies,
  );
});

it('a seed of any length derives what HMAC does', () => {
  const info = crypto.randomBytes(32);
  for (const size of [32, 33, 63, 64, 65, 200]) {
    const seed = crypto.randomBytes(size);
    const wanted = crypto.createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest();
    assert.deepEqual(new Seed(seed).derive(info), wanted, `${size} bytes`);
  }
});
