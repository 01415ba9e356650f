import { createPrivateKey, X509Certificate } from 'node:crypto';
import { decodePem } from './pem.js';

/** Why a certificate and a private key are no pair to show oneself with, in Go's words. */
export function keyPairError(certPem: string, keyPem: string): string | undefined {
  const certificates = decodePem(certPem);
  const leaf = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return noCertificate(certificates.map(({ type }) => type));
  const keys = decodePem(keyPem);
  const secret = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (secret === undefined) return noKey(keys.map(({ type }) => type));
  const certificate = attempt(() => new X509Certificate(leaf.text));
  if (certificate === undefined) return 'x509: malformed certificate';
  const privateKey = attempt(() => createPrivateKey(secret.text));
  if (privateKey === undefined) return 'tls: failed to parse private key';
  if (certificate.publicKey.asymmetricKeyType !== privateKey.asymmetricKeyType) {
    return 'tls: private key type does not match public key type';
  }
  return certificate.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
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

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
