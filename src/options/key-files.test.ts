import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { generateKeys, issueCertificate } from '../lib/issue-certificate.js';
import { caBundleError } from './key-files.js';

test('a bundle of authorities has one at least, and none that cannot be read', () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-bundle-')), 'ca.crt');
  const keys = generateKeys();
  const subject = { commonName: 'ca' };
  const good = issueCertificate({
    subject,
    publicKey: keys.publicKey,
    issuer: { subject, keys },
    use: 'authority',
    notBeforeMs: Date.now() - 1000,
    notAfterMs: Date.now() + 60_000,
  });
  const malformed = '-----BEGIN CERTIFICATE-----\nAAECAwQF\n-----END CERTIFICATE-----\n';
  const errorOf = (pem: string): string | undefined => {
    fs.writeFileSync(file, pem);
    return caBundleError('x', file)?.replace(file, 'FILE');
  };
  try {
    assert.equal(errorOf(good), undefined);
    assert.equal(errorOf(good + malformed), 'error loading CA bundle for "x::FILE": x509: malformed certificate');
    assert.equal(errorOf(malformed), 'error loading CA bundle for "x::FILE": x509: malformed certificate');
    assert.match(errorOf('nothing') ?? '', /: data does not contain any valid RSA or ECDSA certificates$/);
    assert.equal(errorOf(''), 'missing content for CA bundle "x::FILE"');
  } finally {
    fs.rmSync(path.dirname(file), { recursive: true });
  }
});
