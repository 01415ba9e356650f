// Client certificates: the common name is the user, the organizations are the groups.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Certificate, parseCertificate } from '../lib/x509/certificate.js';
import { errorText } from '../lib/text/error-text.js';
import { CLIENT_AUTH, verifyCertificate } from '../lib/x509/verify-certificate.js';
import type { HttpRequest } from '../lib/http/http.js';
import type { Authenticated, RequestAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';
import type { CaBundleSource } from './ca-bundle.js';

export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';
const CACHE_ENTRIES = 1000;

export interface CertificateVerifier {
  /** The leaf, once a path from it to the bundle is found. Throws an AuthenticationError otherwise. */
  verify(chain: readonly Buffer[]): Certificate;
}

/**
 * Verifies chains for client authentication. A path costs several signature checks and a connection brings the same
 * certificates with every request, so good ones are cached for as long as all of the path is valid.
 */
export function createCertificateVerifier(options: {
  readonly bundle: CaBundleSource;
  readonly nowMs: () => number;
  /** Observes the remaining validity of every certificate that is presented, good or bad. */
  readonly observe?: (remainingMs: number) => void;
}): CertificateVerifier {
  const verified = new LRUCache<string, { leaf: Certificate; notAfterMs: number }>({ max: CACHE_ENTRIES });
  return {
    verify(chain) {
      const bundle = options.bundle.current();
      const nowMs = options.nowMs();
      const key = `${bundle.generation}:${fingerprint(chain)}`;
      const known = verified.get(key);
      if (known !== undefined && nowMs < known.notAfterMs + 1000) {
        options.observe?.(known.leaf.notAfterMs - nowMs);
        return known.leaf;
      }
      const [leaf, ...intermediates] = parseChain(chain);
      options.observe?.(leaf.notAfterMs - nowMs);
      const path = pathOf(leaf, { roots: bundle.certificates, intermediates, keyUsage: CLIENT_AUTH, nowMs });
      verified.set(key, {
        leaf,
        notAfterMs: path.reduce((first, certificate) => Math.min(first, certificate.notAfterMs), Infinity),
      });
      return leaf;
    },
  };
}

export function createCertificateAuthenticator(options: {
  readonly verifier: CertificateVerifier;
  /** The gate AllowParsingUserUIDFromCertAuth. */
  readonly parseUid: boolean;
  /** A certificate that is not verified is as none. */
  readonly ignoresOthers: boolean;
}): RequestAuthenticator {
  const { verifier, parseUid, ignoresOthers } = options;
  return {
    authenticate({ clientCertificates }: HttpRequest): Authenticated | undefined {
      if (clientCertificates.length === 0) return undefined;
      const leaf = ignoresOthers ? verifiedOrNone(verifier, clientCertificates) : verifier.verify(clientCertificates);
      return leaf === undefined ? undefined : userOf(leaf, parseUid);
    },
  };
}

function verifiedOrNone(verifier: CertificateVerifier, chain: readonly Buffer[]): Certificate | undefined {
  try {
    return verifier.verify(chain);
  } catch (error) {
    if (error instanceof AuthenticationError) return undefined;
    throw error;
  }
}

function userOf(leaf: Certificate, parseUid: boolean): Authenticated | undefined {
  const { commonName, organizations } = leaf.subjectName;
  if (commonName === '') return undefined;
  const uid = parseUid ? uidOf(leaf) : '';
  return {
    user: {
      name: commonName,
      groups: organizations,
      extra: { [CREDENTIAL_ID]: [`X509SHA256=${leaf.sha256}`] },
      ...(uid === '' ? {} : { uid }),
    },
  };
}

function uidOf(leaf: Certificate): string {
  const uids = leaf.subjectName.attributes.filter((attribute) => attribute.oid === UID_ATTRIBUTE);
  const [first] = uids;
  if (first === undefined) return '';
  if (first.value === undefined) throw new AuthenticationError('unable to parse UID into a string');
  if (uids.length > 1) {
    throw new AuthenticationError(`expected 1 UID, but found multiple: [${uids.map((uid) => uid.value).join(' ')}]`);
  }
  if (first.value === '') throw new AuthenticationError('UID cannot be an empty string');
  return first.value;
}

function parseChain(chain: readonly Buffer[]): [leaf: Certificate, ...intermediates: Certificate[]] {
  try {
    const [leaf, ...intermediates] = chain.map(parseCertificate);
    if (leaf !== undefined) return [leaf, ...intermediates];
  } catch (error) {
    throw new AuthenticationError(`malformed client certificate: ${errorText(error)}`);
  }
  throw new AuthenticationError('no client certificate');
}

function pathOf(leaf: Certificate, options: Parameters<typeof verifyCertificate>[1]): readonly Certificate[] {
  try {
    return verifyCertificate(leaf, options);
  } catch (error) {
    throw new AuthenticationError(`verifying certificate SN=${leaf.serialNumber} failed: ${errorText(error)}`);
  }
}

/** A connection hands over the same array with every request. */
const fingerprints = new WeakMap<readonly Buffer[], string>();

function fingerprint(chain: readonly Buffer[]): string {
  let known = fingerprints.get(chain);
  if (known === undefined) fingerprints.set(chain, (known = digest(chain)));
  return known;
}

function digest(chain: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const certificate of chain) hash.update(`${certificate.length}:`).update(certificate);
  return hash.digest('base64');
}
