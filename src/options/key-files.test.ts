import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { generateKeys, issueCertificate } from '../lib/x509/issue-certificate.js';
import { kubeletFilesError, caBundleError, storeFilesError } from './key-files.js';

const MALFORMED = '-----BEGIN CERTIFICATE-----\nAAECAwQF\n-----END CERTIFICATE-----\n';
const NO_FILES = { caFile: '', certFile: '', keyFile: '' };

/** Files of a folder that lives as long as `use`. */
function withFiles(contents: Readonly<Record<string, string>>, use: (file: (name: string) => string) => void): void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-files-'));
  try {
    for (const [name, text] of Object.entries(contents)) fs.writeFileSync(path.join(folder, name), text);
    use((name) => path.join(folder, name));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

test('the store is shown a whole pair, and believed by certificates alone', () => {
  const { privateKey } = generateKeys();
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  withFiles({ key: pem, bad: MALFORMED, empty: '' }, (file) => {
    const said = (files: Partial<typeof NO_FILES>) => storeFilesError({ ...NO_FILES, ...files });
    assert.equal(said({}), undefined);
    assert.equal(
      said({ keyFile: file('key') }),
      `KeyFile and CertFile must both be present[key: ${file('key')}, cert: ]`,
    );
    assert.match(said({ certFile: file('none'), keyFile: file('key') }) ?? '', /none: no such file or directory$/);
    assert.match(said({ certFile: file('key'), keyFile: file('key') }) ?? '', /PEM inputs may have been switched$/);
    assert.equal(said({ caFile: file('empty') }), undefined);
    assert.equal(said({ caFile: file('bad') }), 'x509: malformed certificate');
    assert.equal(said({ caFile: file('key') }), 'x509: malformed certificate');
  });
});

test('the files for agents can be read, and somebody is believed by their authorities', () => {
  withFiles({ bad: MALFORMED, text: 'nothing', empty: '' }, (file) => {
    const said = (files: Partial<typeof NO_FILES>) => kubeletFilesError({ ...NO_FILES, ...files });
    assert.equal(said({ certFile: file('text'), keyFile: file('empty'), caFile: file('empty') }), undefined);
    assert.match(
      said({ caFile: file('text'), keyFile: file('none') }) ?? '',
      /^open .*none: no such file or directory$/,
    );
    assert.equal(
      said({ caFile: file('text') }),
      'unable to load root certificates: unable to parse bytes as PEM block',
    );
    assert.equal(
      said({ caFile: file('bad') }),
      'unable to load root certificates: failed to parse certificate: x509: malformed certificate',
    );
  });
});

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
  const errorOf = (pem: string): string | undefined => {
    fs.writeFileSync(file, pem);
    return caBundleError('x', file)?.replace(file, 'FILE');
  };
  try {
    assert.equal(errorOf(good), undefined);
    assert.equal(errorOf(good + MALFORMED), 'error loading CA bundle for "x::FILE": x509: malformed certificate');
    assert.equal(errorOf(MALFORMED), 'error loading CA bundle for "x::FILE": x509: malformed certificate');
    assert.match(errorOf('nothing') ?? '', /: data does not contain any valid RSA or ECDSA certificates$/);
    assert.equal(errorOf(''), 'missing content for CA bundle "x::FILE"');
  } finally {
    fs.rmSync(path.dirname(file), { recursive: true });
  }
});
