// The key and certificate files named by flags, looked at before anything starts.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { authorityError } from '../lib/x509/authority-error.js';
import { certificateBundleFault, certificateFault } from '../lib/x509/certificate.js';
import { readTextFile } from '../lib/go/file-error.js';
import { goQuote } from '../lib/go/quote.js';
import { keyPairError } from '../lib/x509/key-pair-error.js';
import { decodePem } from '../lib/x509/pem.js';

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

export interface ClientFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** What the store is believed and shown by. */
export function storeFilesError({ caFile, certFile, keyFile }: ClientFiles): string | undefined {
  if (certFile !== '' || keyFile !== '') {
    if (certFile === '' || keyFile === '') {
      return `KeyFile and CertFile must both be present[key: ${keyFile}, cert: ${certFile}]`;
    }
    const cert = readTextFile(certFile);
    if (!cert.ok) return cert.error;
    const key = readTextFile(keyFile);
    if (!key.ok) return key.error;
    const why = keyPairError(cert.text, key.text);
    if (why !== undefined) return why;
  }
  const authorities = caFile === '' ? undefined : readTextFile(caFile);
  if (authorities === undefined) return undefined;
  if (!authorities.ok) return authorities.error;
  for (const { bytes } of decodePem(authorities.text)) {
    const why = certificateFault(bytes);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** What kubelets are believed and shown by. A pair is looked at when it is shown: it may be renewed until then. */
export function kubeletFilesError({ caFile, certFile, keyFile }: ClientFiles): string | undefined {
  const read = [caFile, certFile, keyFile].map((file) => (file === '' ? undefined : readTextFile(file)));
  for (const each of read) if (each?.ok === false) return each.error;
  const [authorities] = read;
  if (authorities?.ok !== true || authorities.text === '') return undefined;
  const why = authorityError(authorities.text);
  return why === undefined ? undefined : `unable to load root certificates: ${why}`;
}

const isSigningKey = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec';

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
