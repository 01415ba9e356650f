import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { describe, it } from 'node:test';
import { aesCbc } from './aes-cbc.js';
import { aesGcm } from './aes-gcm.js';
import { identity } from './identity.js';
import { PrefixedSealers, type PrefixedSealer } from './prefixed.js';
import { SealError } from './seal-error.js';
import { countingMetrics, sealWhole } from './testing.js';
import type { Sealer } from './transformer.js';

const place = { key: '/registry/secrets/a/b', resource: 'secrets' };
const plain = Buffer.from('{}');
const gcm = (text: string): Sealer => aesGcm(Buffer.alloc(32, text), crypto.randomBytes);
const cbc = (text: string): Sealer => aesCbc(Buffer.alloc(32, text), crypto.randomBytes);

describe('several ways to seal', () => {
  const metrics = countingMetrics();
  const open = (...sealers: PrefixedSealer[]): PrefixedSealers => new PrefixedSealers(sealers, 'none', metrics);
  const a = { prefix: 'a:', sealer: gcm('a') };
  const b = { prefix: 'b:', sealer: gcm('b') };
  const clear = { prefix: '', sealer: identity };

  it('writes with the first and reads with all; what the first did not write is stale', async () => {
    const byB = await sealWhole(open(b), plain, place);
    assert.ok(byB.toString('latin1').startsWith('b:'));
    assert.equal((await open(b, a).open(byB, place)).stale, false);
    const opened = await open(a, b).open(byB, place);
    assert.deepEqual([opened.plain, opened.stale], [plain, true]);
    assert.equal((await open(a, clear).open(plain, place)).stale, true);
    assert.equal((await open(clear, a).open(plain, place)).stale, false);
  });

  it('tries later ones of the same prefix when a key fails, and tells all failures once', async () => {
    const old = { prefix: 'k:', sealer: gcm('old') };
    const fresh = { prefix: 'k:', sealer: gcm('new') };
    const sealed = await sealWhole(open(old), plain, place);
    assert.equal((await open(fresh, old).open(sealed, place)).stale, true);
    assert.throws(() => open(fresh, fresh).open(sealed, place), /^Error: cipher: message authentication failed$/);
    const short = Buffer.from('k:short');
    const both = open({ prefix: 'k:', sealer: cbc('c') }, fresh);
    assert.throws(() => both.open(short, place), { message: 'the stored data was shorter than the required size' });
  });

  it('passes identity over for what is sealed, and says when nobody wrote it', () => {
    const sealed = Buffer.from('k8s:enc:x');
    assert.throws(() => open(clear, a).open(sealed, place), { message: 'none' });
    assert.throws(() => open(a).open(plain, place), { message: 'none' });
  });

  it('goes on after one that fails later', async () => {
    const late: Sealer = {
      seal: () => Promise.reject(new SealError('rpc error', 'Unavailable')),
      open: () => Promise.reject(new SealError('rpc error', 'Unavailable')),
    };
    const sealed = await sealWhole(open(a), plain, place);
    const opened = await open({ prefix: 'a:', sealer: late }, a).open(sealed, place);
    assert.deepEqual([opened.plain, opened.stale], [plain, true]);
    const alone = open({ prefix: 'a:', sealer: late });
    await assert.rejects(async () => alone.open(sealed, place), { message: 'rpc error', status: 'Unavailable' });
    await assert.rejects(async () => sealWhole(alone, plain, place), { message: 'rpc error' });
  });

  it('counts by prefix, direction and status', async () => {
    metrics.take();
    const sealed = await sealWhole(open(a), plain, place);
    await open(a, clear).open(sealed, place);
    await open(a, clear).open(plain, place);
    await sealWhole(open(clear), plain, place);
    assert.throws(() => open(b).open(sealed, place));
    assert.throws(() => open(a).open(Buffer.from('a:short'), place));
    assert.deepEqual(metrics.take(), [
      'sealed secrets "a:"',
      'opened secrets "a:"',
      'opened secrets "identity"',
      'sealed secrets ""',
      'not opened secrets "unknown" unknown-non-grpc',
      'not opened secrets "a:" unknown-non-grpc',
    ]);
  });
});
