// The key and certificate files named by flags, looked at before anything starts.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { certificateBundleFault } from '../lib/certificate.js';
import { readTextFile } from '../lib/go-file-error.js';
import { goQuote } from '../lib/go-quote.js';
import { keyPairError } from '../lib/key-pair-error.js';
import { decodePem } from '../lib/pem.js';

export function privateKeyError(file: string): string | undefined {
  const read = readTextFile(file);
  if (!read.ok) return read.error;
  for (const { text } of decodePem(read.text)) {
    const key = attempt(() => createPrivateKey(text));
    if (key !== undefined && isSigningKey(key)) return undefined;
  }
  return `error reading private key file ${file}: data does not contain a valid RSA or ECDSA private key`;
}

/** A file for verifying tokens: public keys, private keys and certificates all hold one. */
export function publicKeysError(file: string): string | undefined {
  const read = readTextFile(file);
  if (!read.ok) return read.error;
  for (const { text } of decodePem(read.text)) {
    const key = attempt(() => createPublicKey(text));
    if (key !== undefined && isSigningKey(key)) return undefined;
  }
  return `error reading public key file ${file}: data does not contain any valid RSA or ECDSA public keys`;
}

/** `name` is what the bundle is called in messages. */
export function caBundleError(name: string, file: string): string | undefined {
  const read = readTextFile(file);
  if (!read.ok) return read.error;
  const called = goQuote(`${name}::${file}`);
  if (read.text === '') return `missing content for CA bundle ${called}`;
  const why = certificateBundleFault(read.text);
  return why === undefined ? undefined : `error loading CA bundle for ${called}: ${why}`;
}

export function servingPairError(purpose: string, certFile: string, keyFile: string): string | undefined {
  if (certFile === '' || keyFile === '') return 'missing filename for serving cert';
  const cert = readTextFile(certFile);
  if (!cert.ok) return cert.error;
  const key = readTextFile(keyFile);
  if (!key.ok) return key.error;
  if (cert.text === '' || key.text === '') {
    return `missing content for serving cert ${goQuote(`${purpose}::${certFile}::${keyFile}`)}`;
  }
  return keyPairError(cert.text, key.text);
}

const isSigningKey = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec';

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
