import { createPrivateKey, X509Certificate } from 'node:crypto';
import { decodePem } from './pem.js';

/** Why a certificate and a private key are no pair to show oneself with, in Go's words. */
export function keyPairError(certPem: string, keyPem: string): string | undefined {
  const leaf = decodePem(certPem).find(({ type }) => type === 'CERTIFICATE');
  if (leaf === undefined) return 'tls: failed to find any PEM data in certificate input';
  const secret = decodePem(keyPem).find(({ type }) => type.endsWith('PRIVATE KEY'));
  if (secret === undefined) return 'tls: failed to find any PEM data in key input';
  const certificate = attempt(() => new X509Certificate(leaf.text));
  if (certificate === undefined) return 'x509: malformed certificate';
  const privateKey = attempt(() => createPrivateKey(secret.text));
  if (privateKey === undefined) return 'tls: failed to parse private key';
  return certificate.checkPrivateKey(privateKey) ? undefined : 'tls: private key does not match public key';
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
