import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { issueCertificate, type KeyPair } from '../../lib/x509/issue-certificate.js';
import { type CertificateChoice, chooseCertificate, type ShownCertificate } from './choose-certificate.js';
import type { ClientHello } from './client-hello.js';

const NOW_MS = Date.parse('2026-11-18T00:00:00Z');

function shown(commonName: string, keys: KeyPair, dnsNames: readonly string[] = []): ShownCertificate {
  const subject = { commonName };
  const cert = issueCertificate({
    subject,
    publicKey: keys.publicKey,
    issuer: { subject, keys: P256 },
    use: 'server',
    dnsNames,
    notBeforeMs: NOW_MS,
    notAfterMs: NOW_MS + 1000,
  });
  return { leaf: new X509Certificate(cert), options: {} };
}

const P256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const ecdsa = shown('ecdsa', P256);
const wide = shown('wide', generateKeyPairSync('ec', { namedCurve: 'secp384r1' }));
const rsa = shown('rsa', generateKeyPairSync('rsa', { modulusLength: 2048 }), ['made.out.test']);
const ed25519 = shown('ed25519', generateKeyPairSync('ed25519'));

const SUITES = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
];
const [ECDHE_ECDSA, ECDHE_RSA, STATIC_RSA] = [0xc02b, 0xc02f, 0x9c];
const [ECDSA_P256, ECDSA_P384, RSA_PSS, RSA_PKCS1, ED25519] = [0x0403, 0x0503, 0x0804, 0x0401, 0x0807];

const modern: ClientHello = {
  serverName: '',
  versions: [0x0304, 0x0303],
  suites: [0x1301, ECDHE_ECDSA, ECDHE_RSA],
  groups: [0x1d, 0x17],
  signatureSchemes: [ECDSA_P256, RSA_PSS],
};
const older: ClientHello = { ...modern, versions: [0x0303] };

const choice = (byDefault: ShownCertificate, ...others: readonly ShownCertificate[]): CertificateChoice => ({
  byDefault,
  others,
  byName: new Map(),
  suites: SUITES,
});
const chosen = (from: CertificateChoice, hello: ClientHello | undefined, address = '127.0.0.1'): string =>
  chooseCertificate(from, hello, address).leaf.subject.replace('CN=', '');

test('a name is looked up as it is, then as a wildcard; an address only where there is no name', () => {
  const byName = new Map([
    ['a.test', rsa],
    ['*.b.test', wide],
    ['127.0.0.9', ed25519],
  ]);
  const from = { ...choice(ecdsa, rsa, wide, ed25519), byName };
  const named = (serverName: string): string => chosen(from, { ...modern, serverName }, '127.0.0.9');
  assert.deepEqual(['a.test', 'x.b.test', 'b.test', ''].map(named), ['rsa', 'wide', 'ecdsa', 'ed25519']);
  assert.equal(chosen(from, undefined, '127.0.0.9'), 'ecdsa', 'of what is no TLS nothing is known');
});

test('a name that nobody has gets the first certificate made out for it that the client can verify', () => {
  const hello = { ...modern, serverName: 'made.out.test' };
  assert.equal(chosen(choice(ecdsa, rsa), hello), 'rsa');
  assert.equal(chosen(choice(ecdsa, rsa), { ...hello, signatureSchemes: [ECDSA_P256] }), 'ecdsa', 'the default one');
});

test('in TLS 1.3 the algorithm of the signature decides', () => {
  const offered = (...signatureSchemes: number[]): string =>
    chosen(choice(wide, rsa, ecdsa, ed25519), { ...modern, signatureSchemes });
  assert.equal(offered(ECDSA_P256, ECDSA_P384), 'wide');
  assert.equal(offered(ECDSA_P256), 'ecdsa');
  assert.equal(offered(RSA_PSS), 'rsa');
  assert.equal(offered(RSA_PKCS1), 'wide', 'which signs nothing there: the default one, and no handshake');
  assert.equal(offered(ED25519), 'ed25519');
});

test('in TLS 1.2 the suite and the curve of the key decide as well', () => {
  const from = choice(wide, ecdsa, rsa);
  assert.equal(chosen(from, older), 'ecdsa', 'the client does not know the curve of the default one');
  assert.equal(chosen(from, { ...older, suites: [ECDHE_RSA] }), 'rsa');
  assert.equal(chosen(from, { ...older, groups: [] }), 'wide');
  assert.equal(chosen(from, { ...older, groups: [], suites: [STATIC_RSA] }), 'rsa');
  assert.equal(chosen({ ...from, suites: SUITES.slice(0, 2) }, { ...older, suites: [STATIC_RSA] }), 'wide');
});
