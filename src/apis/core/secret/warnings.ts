import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { decodePem } from '../../../lib/pem.js';
import type { Secret } from '../../../schema/generated/core.v1.js';

/** A TLS secret whose key does not fit its certificate is stored, since it may be half of a rotation, but told. */
export function tlsWarnings(object: Readonly<Secret>): string[] {
  if (object.type !== 'kubernetes.io/tls') return [];
  const decode = (key: string): string => Buffer.from(object.data?.[key] ?? '', 'base64').toString('latin1');
  const why = keyPairFault(decode('tls.crt'), decode('tls.key'));
  return why === undefined ? [] : [why];
}

function keyPairFault(certificatePem: string, keyPem: string): string | undefined {
  const certificates = decodePem(certificatePem);
  const certificate = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (certificate === undefined) return noCertificate(certificates.map(({ type }) => type));
  const keys = decodePem(keyPem);
  const key = keys.find(({ type }) => type.endsWith('PRIVATE KEY'));
  if (key === undefined) return noKey(keys.map(({ type }) => type));
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate.text);
  } catch {
    return 'x509: malformed certificate';
  }
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(key.text);
  } catch {
    return 'tls: failed to parse private key';
  }
  if (parsed.publicKey.asymmetricKeyType !== privateKey.asymmetricKeyType) {
    return 'tls: private key type does not match public key type';
  }
  return parsed.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
}

function noCertificate(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (skipped.length === 1 && skipped[0]?.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${skipped.join(' ')}]`;
}

function noKey(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input';
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${skipped.join(' ')}]`;
}
