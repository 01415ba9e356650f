// Certificates for tests, as files.
import fs from 'node:fs';
import path from 'node:path';
import { generateKeys, issueCertificate, privateKeyPem } from '../../src/lib/x509/issue-certificate.js';

export interface CertificateFiles {
  readonly ca: string;
  /** A certificate of that authority and its key. */
  issue(
    name: string,
    use: 'server' | 'client',
    more?: {
      readonly organizations?: readonly string[];
      readonly dnsNames?: readonly string[];
      readonly ipAddresses?: readonly string[];
    },
  ): { readonly cert: string; readonly key: string };
}

const DAY_MS = 24 * 3600 * 1000;

export function createAuthority(folder: string, commonName: string): CertificateFiles {
  const keys = generateKeys();
  const issuer = { subject: { commonName }, keys };
  const life = { notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS };
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text);
    return file;
  };
  const own = issueCertificate({
    ...life,
    subject: issuer.subject,
    publicKey: keys.publicKey,
    issuer,
    use: 'authority',
  });
  return {
    ca: write(`${commonName}.crt`, own),
    issue(name, use, { organizations = [], ...more } = {}) {
      const pair = generateKeys();
      const subject = { commonName: name, organizations };
      const request = { ...life, ...more, subject, publicKey: pair.publicKey, issuer, use };
      return {
        cert: write(`${commonName}-${name}.crt`, issueCertificate(request)),
        key: write(`${commonName}-${name}.key`, privateKeyPem(pair.privateKey)),
      };
    },
  };
}
