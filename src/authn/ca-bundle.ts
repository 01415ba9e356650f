// A file of CA certificates that is read again when it changes. A file that turned bad leaves the old ones in use.
import type { Logger } from '../lib/telemetry/log.js';
import { readFileSync, statSync } from 'node:fs';
import { type Certificate, parseCertificateBundle } from '../lib/x509/certificate.js';
import { errorText } from '../lib/text/error-text.js';

export interface CaBundle {
  readonly path: string;
  /** Changes whenever the certificates do. */
  readonly generation: number;
  readonly pem: string;
  readonly certificates: readonly Certificate[];
}

export interface CaBundleSource {
  /** The certificates in force. Looks at the file now and then: cheap enough for every request. */
  current(): CaBundle;
}

export interface CaBundleOptions {
  readonly path: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** How often, at most, the file is looked at. */
const CHECK_INTERVAL_MS = 1000;

/** Throws when the file cannot be read or holds no certificate. */
export function createCaBundle({ path, nowMs, log }: CaBundleOptions): CaBundleSource {
  let bundle = readBundle(path, 1);
  let mark = fileMark(path);
  let checkedAtMs = nowMs();
  return {
    current() {
      const now = nowMs();
      if (now - checkedAtMs < CHECK_INTERVAL_MS) return bundle;
      checkedAtMs = now;
      const newMark = fileMark(path);
      if (newMark === mark) return bundle;
      mark = newMark;
      try {
        const next = readBundle(path, bundle.generation + 1);
        if (next.pem !== bundle.pem) {
          bundle = next;
          log.info(`loaded a new CA bundle from ${path}`);
        }
      } catch (error) {
        log.warning(`kept the CA bundle in use: ${errorText(error)}`);
      }
      return bundle;
    },
  };
}

function readBundle(path: string, generation: number): CaBundle {
  const pem = readFileSync(path, 'utf8');
  if (pem === '') throw new Error(`missing content for CA bundle "client-ca-bundle::${path}"`);
  let certificates: Certificate[];
  try {
    certificates = parseCertificateBundle(pem);
  } catch (error) {
    throw new Error(`error loading certs from ${path}: ${errorText(error)}`, { cause: error });
  }
  if (certificates.length === 0) {
    throw new Error(
      `unable to load client CA file "client-ca-bundle::${path}": data does not contain any valid RSA or ECDSA certificates`,
    );
  }
  return { path, generation, pem, certificates };
}

/** Inode, size and time: replacing the file by a rename or through a symbolic link shows too. */
function fileMark(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino}:${size}:${mtimeMs}`;
  } catch {
    return 'unreadable';
  }
}
