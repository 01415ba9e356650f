import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { describe, it } from 'node:test';
import { aesCbc } from './aes-cbc.js';
import { aesGcm } from './aes-gcm.js';
import { identity } from './identity.js';
import { PrefixedEncrypters, type PrefixedEncrypter } from './prefixed.js';
import { EncryptionError } from './encryption-error.js';
import { countingMetrics, encryptWhole } from './testing.js';
import type { Encrypter } from './transformer.js';

const place = { key: '/registry/secrets/a/b', resource: 'secrets' };
const plain = Buffer.from('{}');
const gcm = (text: string): Encrypter => aesGcm(Buffer.alloc(32, text), crypto.randomBytes);
const cbc = (text: string): Encrypter => aesCbc(Buffer.alloc(32, text), crypto.randomBytes);

describe('several ways to encrypt', () => {
  const metrics = countingMetrics();
  const open = (...encrypters: PrefixedEncrypter[]): PrefixedEncrypters =>
    new PrefixedEncrypters(encrypters, 'none', metrics);
  const a = { prefix: 'a:', encrypter: gcm('a') };
  const b = { prefix: 'b:', encrypter: gcm('b') };
  const clear = { prefix: '', encrypter: identity };

  it('writes with the first and reads with all; what the first did not write is stale', async () => {
    const byB = await encryptWhole(open(b), plain, place);
    assert.ok(byB.toString('latin1').startsWith('b:'));
    assert.equal((await open(b, a).decrypt(byB, place)).stale, false);
    const opened = await open(a, b).decrypt(byB, place);
    assert.deepEqual([opened.plain, opened.stale], [plain, true]);
    assert.equal((await open(a, clear).decrypt(plain, place)).stale, true);
    assert.equal((await open(clear, a).decrypt(plain, place)).stale, false);
  });

  it('tries later ones of the same prefix when a key fails, and reports all failures once', async () => {
    const old = { prefix: 'k:', encrypter: gcm('old') };
    const fresh = { prefix: 'k:', encrypter: gcm('new') };
    const encrypted = await encryptWhole(open(old), plain, place);
    assert.equal((await open(fresh, old).decrypt(encrypted, place)).stale, true);
    assert.throws(() => open(fresh, fresh).decrypt(encrypted, place), /^Error: cipher: message authentication failed$/);
    const short = Buffer.from('k:short');
    const both = open({ prefix: 'k:', encrypter: cbc('c') }, fresh);
    assert.throws(() => both.decrypt(short, place), { message: 'the stored data was shorter than the required size' });
  });

  it('passes identity over for what is encrypted, and says when nobody wrote it', () => {
    const encrypted = Buffer.from('k8s:enc:x');
    assert.throws(() => open(clear, a).decrypt(encrypted, place), { message: 'none' });
    assert.throws(() => open(a).decrypt(plain, place), { message: 'none' });
  });

  it('goes on after one that fails later', async () => {
    const late: Encrypter = {
      encrypt: () => Promise.reject(new EncryptionError('rpc error', 'Unavailable')),
      decrypt: () => Promise.reject(new EncryptionError('rpc error', 'Unavailable')),
    };
    const encrypted = await encryptWhole(open(a), plain, place);
    const opened = await open({ prefix: 'a:', encrypter: late }, a).decrypt(encrypted, place);
    assert.deepEqual([opened.plain, opened.stale], [plain, true]);
    const alone = open({ prefix: 'a:', encrypter: late });
    await assert.rejects(async () => alone.decrypt(encrypted, place), { message: 'rpc error', status: 'Unavailable' });
    await assert.rejects(async () => encryptWhole(alone, plain, place), { message: 'rpc error' });
  });

  it('counts by prefix, direction and status', async () => {
    metrics.take();
    const encrypted = await encryptWhole(open(a), plain, place);
    await open(a, clear).decrypt(encrypted, place);
    await open(a, clear).decrypt(plain, place);
    await encryptWhole(open(clear), plain, place);
    assert.throws(() => open(b).decrypt(encrypted, place));
    assert.throws(() => open(a).decrypt(Buffer.from('a:short'), place));
    assert.deepEqual(metrics.take(), [
      'encrypted secrets "a:"',
      'opened secrets "a:"',
      'opened secrets "identity"',
      'encrypted secrets ""',
      'not opened secrets "unknown" unknown-non-grpc',
      'not opened secrets "a:" unknown-non-grpc',
    ]);
  });
});
