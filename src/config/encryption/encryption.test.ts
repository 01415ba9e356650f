import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ConfigError } from '../config-error.js';
import { loadEncryption, readEncryptionFile } from './load.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const identity = { identity: {} };
const options = { file: '/c', reload: false, kmsV1: false };
const text = (...resources: unknown[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });
const entry = (resources: string[], ...providers: unknown[]) => ({ resources, providers });
const kms = (more: object) => ({ kms: { apiVersion: 'v2', name: 'k', endpoint: 'unix:///s', ...more } });
const refusal = (config: string, more: Partial<typeof options> = {}): string => {
  try {
    loadEncryption(config, { ...options, ...more });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return 'accepted';
};

describe('an encryption configuration', () => {
  it('is read with its defaults', () => {
    const { entries, hash } = loadEncryption(
      text(
        entry(['secrets'], { aesgcm: { keys: [{ name: 'a', secret: SECRET }] } }, identity),
        entry(['*.*'], kms({ timeout: '1.5s' }), kms({ apiVersion: '', name: 'old', endpoint: 'unix:///@abstract' })),
      ),
      { ...options, kmsV1: true },
    );
    assert.match(hash, /^sha256:[0-9a-f]{64}$/);
    const service = { kind: 'kms', name: 'k', version: 'v2', socket: '/s', timeoutMs: 1500, cacheSize: 1000 };
    assert.deepEqual(entries, [
      {
        resources: ['secrets'],
        providers: [{ kind: 'aesgcm', keys: [{ name: 'a', secret: Buffer.alloc(32, 7) }] }, { kind: 'identity' }],
      },
      {
        resources: ['*.*'],
        providers: [service, { ...service, name: 'old', version: 'v1', socket: '@abstract', timeoutMs: 3000 }],
      },
    ]);
  });

  it('is known by the name in old documentation', () => {
    const old = text(entry(['secrets'], identity)).replace('apiserver.config.k8s.io/v1', 'v1');
    assert.match(refusal(old), /no kind "EncryptionConfiguration" is registered for version "v1"/);
    assert.equal(refusal(old.replace('EncryptionConfiguration', 'EncryptionConfig')), 'accepted');
  });

  it('of another kind is refused by its name', () => {
    assert.equal(
      refusal(text().replace('EncryptionConfiguration', 'TracingConfiguration').replace(',"resources":[]', '')),
      'error while parsing file: got unexpected config type: apiserver.config.k8s.io/v1, Kind=TracingConfiguration',
    );
  });

  const refused: [string, string, RegExp][] = [
    ['a capital letter', text(entry(['Secrets'], identity)), /resources\[0\]: Invalid value: "Secrets": resource name/],
    ['a lone star', text(entry(['*'], identity)), /use '\*\.' to encrypt all the resources from core/],
    ['what is not served', text(entry(['serviceipallocations'], identity)), /do not have REST API/],
    ['events of their own group', text(entry(['events.events.k8s.io'], identity)), /Use 'events' instead/],
    ['a group that is gone', text(entry(['ingresses.extensions'], identity)), /'extensions' group has been removed/],
    ['a resource of all groups', text(entry(['secrets.*'], identity)), /same resource across groups/],
    ['overlap', text(entry(['secrets', '*.'], identity)), /using overlapping resources/],
    ['all twice', text(entry(['*.*', '*.*'], identity)), /^.*\[resources.*multiple times, resources.*overlapping/],
    [
      'a rule that is never met',
      text(entry(['*.*'], identity), entry(['secrets'], identity)),
      /^error while building transformers: resource "secrets" is masked by earlier rule "\*\.\*"$/,
    ],
    ['a service without a socket', text(entry(['a'], kms({ endpoint: '' }))), /endpoint is a mandatory field/],
    ['a service on the network', text(entry(['a'], kms({ endpoint: 'http://x' }))), /unsupported scheme "http"/],
    ['no time for a service', text(entry(['a'], kms({ timeout: '0s' }))), /Invalid value: "0s": timeout should be/],
    ['less than no time', text(entry(['a'], kms({ timeout: '-1000ms' }))), /Invalid value: "-1s": timeout should be/],
    ['a cache of KMS v2', text(entry(['a'], kms({ cachesize: 5 }))), /cachesize is not supported in v2/],
    ['KMS v1 without its feature', text(entry(['a'], kms({ apiVersion: 'v1' }))), /KMSv1 is deprecated/],
    ['another kind', '{"kind":"Pod","apiVersion":"v1"}', /no kind "Pod" is registered for version "v1"/],
    [
      'an unknown field',
      text({ ...entry(['a'], identity), x: 1 }),
      /strict decoding error: unknown field "resources\[0\]\.x"/,
    ],
  ];
  for (const [what, config, error] of refused) {
    it(`is refused for ${what}`, () => assert.match(refusal(config), error));
  }

  it('may name a KMS v1 service twice unless it is read again', () => {
    const twice = text(entry(['a'], kms({ apiVersion: 'v1' })), entry(['b'], kms({ apiVersion: 'v1' })));
    assert.equal(refusal(twice, { kmsV1: true }), 'accepted');
    assert.match(refusal(twice, { kmsV1: true, reload: true }), /duplicate KMS provider name k/);
  });

  it('never has a secret in its refusal', () => {
    const both = { aesgcm: { keys: [{ name: 'a', secret: SECRET }] }, identity: {} };
    const short = { aescbc: { keys: [{ name: 'a', secret: 'c2hvcnQ=' }] } };
    const message = refusal(text(entry(['a'], both, short)));
    assert.match(message, /more than one provider .* secret is not of the expected length, got 5, expected one of/);
    assert.ok(!message.includes(SECRET) && !message.includes('c2hvcnQ='));
  });

  it('says when its file is missing or empty', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'encryption-'));
    const file = path.join(folder, 'empty');
    fs.writeFileSync(file, '');
    assert.throws(() => readEncryptionFile(file), /error while loading file: .*empty" is empty$/);
    assert.throws(() => readEncryptionFile(`${file}.not`), /open .*: no such file or directory$/);
    fs.rmSync(folder, { recursive: true });
  });
});
