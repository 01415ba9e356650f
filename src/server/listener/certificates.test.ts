// runs-on: every-node
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test, type TestContext } from 'node:test';
import {
  ensureAdminCertificate,
  ensureAuthority,
  ensureSelfSignedCertificate,
  ensureServiceAccountKeys,
  ensureServingCertificate,
  writeAdminKubeconfig,
} from './certificates.js';

const DAY_MS = 86_400_000;
const nowMs = Date.parse('2026-11-15T00:00:00Z');
const names = { dnsNames: ['localhost', 'bad_host'], ipAddresses: ['127.0.0.1', '::1'] };
let folder = '';
beforeEach(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-pki-'))));
afterEach(() => fs.rmSync(folder, { recursive: true }));

const read = (file: string): X509Certificate => new X509Certificate(fs.readFileSync(file));

test('the authority signs a server for its names and an administrator in system:masters', () => {
  const authority = ensureAuthority(folder, nowMs);
  const ca = new X509Certificate(authority.certPem);
  assert.ok(ca.ca && ca.verify(ca.publicKey));
  const server = read(ensureServingCertificate(folder, authority, names, nowMs).certFile);
  assert.ok(server.checkIssued(ca) && server.verify(ca.publicKey) && !server.ca);
  assert.equal(server.subjectAltName, 'DNS:localhost, DNS:bad_host, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const admin = read(ensureAdminCertificate(folder, authority, nowMs).certFile);
  assert.equal(admin.subject, 'O=system:masters\nCN=admin');
  assert.deepEqual(admin.keyUsage, ['1.3.6.1.5.5.7.3.2']);
});

test('files are for the owner alone, made once, and made again when names change or the end is near', () => {
  const authority = ensureAuthority(folder, nowMs);
  const first = ensureServingCertificate(folder, authority, names, nowMs);
  assert.equal(fs.statSync(first.keyFile).mode & 0o777, 0o600);
  const text = fs.readFileSync(first.certFile, 'utf8');
  const again = (over: Partial<typeof names>, atMs = nowMs): string => {
    const kept = ensureAuthority(folder, atMs);
    assert.equal(kept.certPem, authority.certPem);
    return fs.readFileSync(ensureServingCertificate(folder, kept, { ...names, ...over }, atMs).certFile, 'utf8');
  };
  assert.equal(again({}), text);
  assert.equal(again({}, nowMs + 300 * DAY_MS), text);
  const moved = again({ ipAddresses: ['127.0.0.1', '::1', '192.0.2.7'] });
  assert.notEqual(moved, text);
  assert.notEqual(again({}, nowMs + 360 * DAY_MS), moved);
});

test('service-account keys are kept, and the kubeconfig names the server', () => {
  const keys = ensureServiceAccountKeys(folder);
  const text = fs.readFileSync(keys.keyFile, 'utf8');
  fs.rmSync(keys.publicKeyFile);
  ensureServiceAccountKeys(folder);
  assert.equal(fs.readFileSync(keys.keyFile, 'utf8'), text);
  assert.match(fs.readFileSync(keys.publicKeyFile, 'utf8'), /^-----BEGIN PUBLIC KEY-----/);
  const authority = ensureAuthority(folder, nowMs);
  const admin = ensureAdminCertificate(folder, authority, nowMs);
  const { file } = writeAdminKubeconfig(folder, 'https://127.0.0.1:6443', authority.certPem, admin);
  assert.match(fs.readFileSync(file, 'utf8'), /server: https:\/\/127\.0\.0\.1:6443\n/);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
});

/** Every write meets a full disk, after it has made an empty file. */
function onFullDisk<Made>(t: TestContext, run: () => Made): Made {
  const full = t.mock.method(fs, 'writeFileSync', (file: string) => {
    fs.closeSync(fs.openSync(file, 'w'));
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  });
  try {
    return run();
  } finally {
    full.mock.restore();
  }
}

test('on a full disk what is there stays in use while it is valid, and says why', (t) => {
  const data = fs.mkdtempSync(path.join(folder, 'full-'));
  const pki = (name: string): string => path.join(data, 'pki', name);
  const authority = ensureAuthority(data, nowMs);
  const serving = ensureServingCertificate(data, authority, names, nowMs);
  const admin = ensureAdminCertificate(data, authority, nowMs);
  const { file } = writeAdminKubeconfig(data, 'https://127.0.0.1:6443', authority.certPem, admin);
  const contents = (): string[][] =>
    [data, path.join(data, 'pki')].map((at) =>
      fs
        .readdirSync(at, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => fs.readFileSync(path.join(at, name), 'utf8')),
    );
  const before = contents();
  const refusal = (at: string): string => `write ${at}: no space left on device`;
  onFullDisk(t, () => {
    const moved = { ...names, ipAddresses: ['192.0.2.9'] };
    assert.deepEqual(ensureServingCertificate(data, authority, moved, nowMs), {
      ...serving,
      outdated: refusal(pki('apiserver.key')),
    });
    const lateMs = nowMs + 350 * DAY_MS;
    assert.equal(ensureAdminCertificate(data, authority, lateMs).outdated, refusal(pki('admin.key')));
    const kept = ensureAuthority(data, nowMs + 3649 * DAY_MS);
    assert.deepEqual([kept.certPem, kept.replaced, kept.outdated], [authority.certPem, false, refusal(pki('ca.key'))]);
    assert.deepEqual(writeAdminKubeconfig(data, 'https://127.0.0.1:7000', authority.certPem, admin), {
      file,
      outdated: refusal(file),
    });
    assert.throws(() => ensureAdminCertificate(data, authority, nowMs + 400 * DAY_MS), {
      message: refusal(pki('admin.key')),
    });
    assert.throws(() => writeAdminKubeconfig(path.join(data, 'pki'), 'https://a.test', authority.certPem, admin), {
      message: refusal(pki('admin.kubeconfig')),
    });
  });
  assert.deepEqual(contents(), before, 'nothing is replaced, and no half file is left');
});

test('a certificate that signs itself is made where neither file is, and not where one is missing', () => {
  const make = (at: string) => ensureSelfSignedCertificate(at, 'test', names, nowMs);
  const made = make(folder);
  assert.deepEqual(make(folder), made);
  fs.rmSync(made.keyFile);
  assert.throws(() => make(folder), {
    message: `error creating self-signed certificates: error reading ${made.keyFile}, certificate and key must be supplied as a pair`,
  });
  assert.throws(() => make(path.join(made.certFile, 'below')), {
    message: `error creating self-signed certificates: mkdir ${made.certFile}: not a directory`,
  });
});
