import { silentLog } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { describe, it } from 'node:test';
import { aesCbc } from '../aes-cbc.js';
import { GrpcError, NoAnswer } from '../../outbound/grpc-error.js';
import { EncryptionError } from '../encryption-error.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { V1_RESPONSE } from './messages.js';
import { countingMetrics, MemoryKmsPlugin, encryptWhole } from '../testing.js';
import type { ProviderParts } from '../providers.js';
import type { RecordedSpan } from '../../tracing/recorded-span.js';
import { SCOPES } from '../../tracing/trace.js';
import { Tracer } from '../../tracing/tracer.js';
import {
  decodeEncryptedObject,
  encodedWith,
  encodeWrappedKey,
  PLAIN_KEY,
  type WrappedKey,
} from './encrypted-object.js';
import { KmsPluginClient } from './kms-plugin-client.js';
import type { KmsPluginV1 } from './kms-plugin-v1.js';
import { EncrypterV1 } from './encrypter-v1.js';
import { EncrypterV2 } from './encrypter-v2.js';
import { pingedService, polledService } from './plugin-health.js';
import { WriteKeySource } from './write-key.js';

const place = { key: '/registry/secrets/a/b', resource: 'secrets' };
const plain = Buffer.from('{"kind":"Secret"}');
const settings = { kind: 'kms', version: 'v2', name: 'vault', socket: '/s', timeoutMs: 1000, cacheSize: 2 } as const;

function vault() {
  const service = new MemoryKmsPlugin();
  const clock = new ManualClock();
  const metrics = countingMetrics();
  const random = crypto.randomBytes;
  const parts = { name: 'vault', service, clock, metrics, random, newUid: () => 'uid' };
  const writeKey = new WriteKeySource(parts);
  const encrypter = new EncrypterV2({ ...parts, writeKey });
  return { service, clock, metrics, writeKey, encrypter };
}

describe('KMS v2', () => {
  it('has one seed wrapped and calls the plugin no more, however much is written and read', async () => {
    const { service, writeKey, encrypter } = vault();
    assert.throws(() => encryptWhole(encrypter, plain, place), { message: 'got unexpected nil transformer' });
    assert.equal(await writeKey.check(), undefined);
    for (let i = 0; i < 3; i++) {
      const decrypted = encrypter.decrypt(encryptWhole(encrypter, plain, place), place);
      assert.deepEqual(decrypted, { plain, stale: false });
    }
    assert.deepEqual(service.calls, ['Status', 'Encrypt']);
  });

  it('unwraps a seed it does not know once for all readers', async () => {
    const written = vault();
    await written.writeKey.check();
    const values = [encryptWhole(written.encrypter, plain, place), encryptWhole(written.encrypter, plain, place)];
    const { service, writeKey, encrypter } = vault();
    await writeKey.check();
    const decrypted = await Promise.all(values.map(async (value) => encrypter.decrypt(value, place)));
    assert.deepEqual(decrypted, [
      { plain, stale: false },
      { plain, stale: false },
    ]);
    assert.deepEqual(service.calls, ['Status', 'Encrypt', 'Decrypt']);
    assert.ok(!(encrypter.decrypt(values[0] ?? plain, place) instanceof Promise));
  });

  it('records in a trace which step of decrypting failed', async () => {
    const written = vault();
    await written.writeKey.check();
    const value = encryptWhole(written.encrypter, plain, place);
    const { service, writeKey, encrypter } = vault();
    await writeKey.check();
    const eventsOf = async (encrypted: Buffer): Promise<string[]> => {
      const spans: RecordedSpan[] = [];
      const tracer = new Tracer({ ratePerMillion: 0, onEnd: (span) => spans.push(span) });
      const trace = tracer.root({ name: 'root', scope: SCOPES.http, kind: 'server', auditId: '', baggage: '' });
      await assert.rejects(async () => encrypter.decrypt(encrypted, { ...place, trace }));
      return spans.flatMap(({ events }) => events.map(({ name }) => name)).slice(-2);
    };
    assert.deepEqual(await eventsOf(plain), ['Decoding encrypted object failed', 'exception']);
    service.fails = new Error('away');
    assert.deepEqual(await eventsOf(value), ['DEK decryption failed', 'exception']);
    service.fails = undefined;
    const { data, ...wrapped } = decodeEncryptedObject(value);
    const altered = Buffer.concat(encodedWith(encodeWrappedKey(wrapped), [Buffer.alloc(data.length)]));
    assert.deepEqual(await eventsOf(altered), ['Data decryption failed', 'exception']);
  });

  it('makes a new seed when the status names another key; what the old one encrypted is stale', async () => {
    const { service, clock, writeKey, encrypter } = vault();
    await writeKey.check();
    const before = encryptWhole(encrypter, plain, place);
    service.keyId = 'key-2';
    await writeKey.check();
    assert.deepEqual(service.calls, ['Status', 'Encrypt'], 'the last answer is still young');
    await clock.move(20_000);
    assert.equal(await writeKey.check(), undefined);
    assert.deepEqual(encrypter.decrypt(before, place), { plain, stale: true });
    assert.equal(decodeEncryptedObject(encryptWhole(encrypter, plain, place)).keyId, 'key-2');
  });

  it('keeps the old seed when status and wrapping name different keys', async () => {
    const { service, clock, writeKey, encrypter } = vault();
    await writeKey.check();
    service.keyId = 'key-2';
    service.encryptKeyId = 'key-1';
    await clock.move(20_000);
    assert.match(
      (await writeKey.check()) ?? '',
      /not healthy, error: failed to rotate DEK uid="uid", useSeed=true, errState=<nil>, errGen=<nil>/,
    );
    assert.equal(decodeEncryptedObject(encryptWhole(encrypter, plain, place)).keyId, 'key-1');
  });

  it('encrypts for three minutes after the last good status, and decrypts for ever', async () => {
    const { service, clock, writeKey, encrypter } = vault();
    await writeKey.check();
    const encrypted = encryptWhole(encrypter, plain, place);
    service.fails = new EncryptionError('rpc error: code = Unavailable desc = away', 'Unavailable');
    await clock.move(3 * 60_000);
    assert.match((await writeKey.check()) ?? '', /^failed to perform status section .* KMS Provider vault, error: rpc/);
    encryptWhole(encrypter, plain, place);
    await clock.move(1_000);
    assert.throws(
      () => encryptWhole(encrypter, plain, place),
      /^Error: encryptedDEKSource with keyID hash "sha256:be29.*" expired at 2030-01-01T00:03:00Z \(current time is 2030-01-01T00:03:01Z\)$/,
    );
    assert.deepEqual(encrypter.decrypt(encrypted, place), { plain, stale: false });
    service.fails = undefined;
    await clock.move(3_000);
    assert.equal(await writeKey.check(), undefined);
    encryptWhole(encrypter, plain, place);
    assert.equal(service.calls.filter((call) => call === 'Encrypt').length, 1, 'the same seed is good again');
  });

  const odd: [string, (service: MemoryKmsPlugin) => void, RegExp, boolean][] = [
    ['is unwell', (s) => (s.healthz = 'on fire'), /got unexpected healthz status: on fire$/, true],
    ['has another version', (s) => (s.version = 'v3'), /expected KMSv2 API version v2, got v3$/, true],
    ['names no key', (s) => (s.keyId = ''), /got invalid KMSv2 KeyID hash "": keyID is empty$/, false],
    ['names a long key', (s) => (s.keyId = 'k'.repeat(1025)), /keyID is 1025 bytes, which exceeds/, false],
    ['wraps to nothing', (s) => (s.source = Buffer.alloc(0)), /encrypted DEK source is empty/, false],
    ['wraps to much', (s) => (s.source = Buffer.alloc(1025, 1)), /encrypted DEK source is 1025 bytes/, false],
    [
      'notes nonsense',
      (s) => s.annotations.set('plain', Buffer.from('x')),
      /annotations: Invalid value: "plain"/,
      false,
    ],
    ['notes much', (s) => s.annotations.set('a.b', Buffer.alloc(33_000)), /total size of annotations is 33003/, false],
  ];
  for (const [what, change, error, encrypts] of odd) {
    it(`reports a plugin that ${what}, and ${encrypts ? 'encrypts all the same' : 'does not encrypt'}`, async () => {
      const { service, writeKey, encrypter } = vault();
      change(service);
      assert.match((await writeKey.check()) ?? '', error);
      if (encrypts) encryptWhole(encrypter, plain, place);
      else assert.throws(() => encryptWhole(encrypter, plain, place), /got unexpected nil transformer/);
    });
  }

  it('reads values under a plain wrapped key, and refuses what is no encrypted object', async () => {
    const { writeKey, encrypter } = vault();
    await writeKey.check();
    const { source, keyId } = decodeEncryptedObject(encryptWhole(encrypter, plain, place));
    const encoded = (key: Pick<WrappedKey, 'source' | 'sourceType'>): Buffer =>
      Buffer.concat(encodedWith(encodeWrappedKey({ keyId, annotations: new Map(), ...key }), [plain]));
    const short = encoded({ source: Buffer.from('key-1|short'), sourceType: PLAIN_KEY });
    await assert.rejects(async () => encrypter.decrypt(short, place), /crypto\/aes: invalid key size 5/);
    const strange = encoded({ source, sourceType: 7 });
    assert.throws(() => encrypter.decrypt(strange, place), /unknown encryptedDEKSourceType: 7/);
    for (const bytes of [Buffer.alloc(0), Buffer.from([0xff]), Buffer.from([0x0a, 0x20, 1])]) {
      assert.throws(() => encrypter.decrypt(bytes, place));
    }
  });

  it('polls a plugin every minute, and every ten seconds while it is unhealthy', async () => {
    const { service, clock, writeKey } = vault();
    service.fails = new Error('away');
    const watched = polledService({ settings, writeKey, clock, log: silentLog, close: () => undefined });
    await watched.begin();
    await clock.move(10_000);
    assert.equal(service.calls.length, 2);
    service.fails = undefined;
    await clock.move(10_000);
    assert.deepEqual(service.calls, ['Status', 'Status', 'Status', 'Encrypt']);
    await clock.move(59_000);
    assert.equal(service.calls.length, 4);
    await clock.move(1_000);
    assert.equal(service.calls.length, 5);
    watched.close();
    await clock.move(120_000);
    assert.equal(service.calls.length, 5);
  });
});

describe('KMS v1', () => {
  const turning: KmsPluginV1 & { calls: string[] } = {
    calls: [],
    async encrypt(bytes) {
      this.calls.push('Encrypt');
      return Buffer.concat([Buffer.from('w'), Buffer.from(bytes).reverse()]);
    },
    async decrypt(bytes) {
      this.calls.push('Decrypt');
      return Buffer.from(bytes.subarray(1)).reverse();
    },
  };
  const encrypterV1 = (cacheSize = 2, service: KmsPluginV1 = turning) =>
    new EncrypterV1({ service, cacheSize, random: crypto.randomBytes, metrics: countingMetrics() });

  it('wraps a key for each write, and caches as many as configured', async () => {
    const encrypter = encrypterV1();
    const values = [];
    for (let i = 0; i < 3; i++) values.push(await encryptWhole(encrypter, plain, place));
    turning.calls.length = 0;
    assert.deepEqual(await encrypter.decrypt(values[2] ?? plain, place), { plain, stale: false });
    assert.deepEqual(turning.calls, []);
    assert.deepEqual(await encrypter.decrypt(values[0] ?? plain, place), { plain, stale: false });
    assert.deepEqual(turning.calls, ['Decrypt']);
    await encrypterV1(-1).decrypt(values[0] ?? plain, place);
    assert.equal(turning.calls.length, 2);
    assert.equal(encrypter.decryptsEachRead, true);
  });

  it('says of a wrapped key whose length cannot be written how long it is', async () => {
    const lavish = { ...turning, encrypt: () => Promise.resolve(Buffer.alloc(70_000)) };
    await assert.rejects(async () => encryptWhole(encrypterV1(2, lavish), plain, place), {
      message: 'cryptobyte: pending child length 70000 exceeds 2-byte length prefix',
    });
  });

  it('reads the AES-CBC of long ago as stale, and refuses a broken length', async () => {
    const key = Buffer.alloc(32, 5);
    const body = await encryptWhole(aesCbc(key, crypto.randomBytes), plain, place);
    const wrapped = await turning.encrypt(key);
    const length = Buffer.from([0, wrapped.length]);
    const decrypted = await encrypterV1().decrypt(Buffer.concat([length, wrapped, body]), place);
    assert.deepEqual([decrypted.plain, decrypted.stale, decrypted.unproven], [plain, true, true]);
    for (const bytes of [Buffer.alloc(0), Buffer.from([1]), Buffer.from([0, 9, 1])]) {
      assert.throws(() => encrypterV1().decrypt(bytes, place), /failed to read uint16 length prefixed data/);
    }
  });

  it('is checked by wrapping and unwrapping, which is cached for a while', async () => {
    const clock = new ManualClock();
    let fails = false;
    const service: KmsPluginV1 = {
      encrypt: (bytes) => (fails ? Promise.reject(new Error('locked')) : turning.encrypt(bytes)),
      decrypt: (bytes) => turning.decrypt(bytes),
    };
    const watched = pingedService({ settings, service, clock, close: () => undefined });
    assert.equal(await watched.check(), undefined);
    fails = true;
    assert.equal(await watched.check(), undefined);
    await clock.move(20_000);
    const first = 'failed to perform encrypt section of the healthz check for KMS Provider vault, error: locked';
    assert.equal(await watched.check(), first);
    fails = false;
    assert.equal(await watched.check(), 'locked');
    await clock.move(3_000);
    assert.equal(await watched.check(), undefined);
  });
});

describe('a call to a KMS plugin', () => {
  const clientOf = (connect: ProviderParts['connect'], clock: ManualClock) =>
    new KmsPluginClient({ connect: () => connect('/s'), timeoutMs: 1000, clock });

  it('that ends with its time says what was in the way', async () => {
    const clock = new ManualClock();
    const dialing = new Error('dial unix /s: connect: connection refused');
    const refused = clientOf(() => Promise.reject(dialing), clock).call('/a', plain, V1_RESPONSE);
    const why = 'transport: Error while dialing: dial unix /s: connect: connection refused';
    const ended = assert.rejects(refused, {
      message: `rpc error: code = DeadlineExceeded desc = latest balancer error: connection error: desc = "${why}"`,
      status: 'DeadlineExceeded',
    });
    await clock.move(0);
    await clock.move(1100);
    await ended;
  });

  it("passes on the plugin's own error", async () => {
    const call = (): Promise<Buffer> =>
      Promise.reject(new GrpcError({ status: 9, message: 'locked vault', sent: true }));
    const refusing = { usable: true, call, close: () => undefined };
    await assert.rejects(clientOf(async () => refusing, new ManualClock()).call('/a', plain, V1_RESPONSE), {
      message: 'rpc error: code = FailedPrecondition desc = locked vault',
      status: 'FailedPrecondition',
    });
  });

  it('that went well and has no answer, or none that can be read, failed', async () => {
    const answering = (call: () => Promise<Buffer>) => async () => ({ usable: true, call, close: () => undefined });
    const none = clientOf(
      answering(() => Promise.reject(new NoAnswer())),
      new ManualClock(),
    );
    await assert.rejects(none.call('/a', plain, V1_RESPONSE), { message: 'EOF', status: 'unknown-non-grpc' });
    const odd = clientOf(
      answering(async () => Buffer.from([0xff, 0xff])),
      new ManualClock(),
    );
    await assert.rejects(odd.call('/a', plain, V1_RESPONSE), { status: 'Internal' });
  });
});
