// Builds and checks a path from a certificate to one of the trusted roots, for one purpose.
import type { Certificate } from './certificate.js';

export interface VerifyOptions {
  readonly roots: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
  /** The extended key usage every certificate of the path must allow. */
  readonly keyUsage: string;
  readonly nowMs: number;
}

class CertificateError extends Error {}

export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';
/** Longer paths are not built: nobody has them, and each step costs a signature check. */
const MAX_PATH_LENGTH = 8;
const MAX_SIGNATURE_CHECKS = 100;

/** The path found, leaf first. Throws a CertificateError that says why there is none. */
export function verifyCertificate(leaf: Certificate, options: VerifyOptions): readonly Certificate[] {
  if (leaf.unhandledCriticalExtensions.length > 0) throw new CertificateError('x509: unhandled critical extension');
  checkValidity(leaf, options.nowMs);
  if (options.roots.some((root) => root.der.equals(leaf.der))) return checkUsage([leaf], options.keyUsage);
  const search: Search = { options, checks: 0, failure: undefined };
  const path = extend([leaf], search);
  if (path !== undefined) return path;
  throw search.failure ?? new CertificateError('x509: certificate signed by unknown authority');
}

interface Search {
  readonly options: VerifyOptions;
  checks: number;
  /** The first reason met why a candidate did not serve. */
  failure: CertificateError | undefined;
}

function extend(path: readonly Certificate[], search: Search): readonly Certificate[] | undefined {
  const last = path.at(-1);
  if (last === undefined || path.length >= MAX_PATH_LENGTH) return undefined;
  const { roots, intermediates, keyUsage } = search.options;
  for (const root of roots) {
    if (!signs(root, last, path.length - 1, search)) continue;
    try {
      return checkUsage([...path, root], keyUsage);
    } catch (error) {
      recordFailure(search, error);
    }
  }
  for (const intermediate of intermediates) {
    if (path.some((seen) => seen.der.equals(intermediate.der))) continue;
    if (intermediate.basicConstraints?.ca !== true) continue;
    if (!signs(intermediate, last, path.length - 1, search)) continue;
    const whole = extend([...path, intermediate], search);
    if (whole !== undefined) return whole;
  }
  return undefined;
}

/** `below`: the certificates between this signer and the leaf. */
function signs(signer: Certificate, signed: Certificate, below: number, search: Search): boolean {
  if (!signer.subject.raw.equals(signed.issuer.raw)) return false;
  if (++search.checks > MAX_SIGNATURE_CHECKS) {
    recordFailure(
      search,
      new CertificateError('x509: signature check attempts limit reached while verifying certificate chain'),
    );
    return false;
  }
  try {
    checkSigner(signer, signed, below);
    checkValidity(signer, search.options.nowMs);
    return true;
  } catch (error) {
    recordFailure(search, error);
    return false;
  }
}

const CERT_SIGN = 0x04;
const INSECURE = new Set([
  '1.2.840.113549.1.1.4', // MD5 with RSA
  '1.2.840.113549.1.1.5', // SHA-1 with RSA
  '1.2.840.10045.4.1', // ECDSA with SHA-1
]);

function checkSigner(signer: Certificate, signed: Certificate, below: number): void {
  const constraints = signer.basicConstraints;
  if ((signer.version === 3 && constraints === undefined) || (constraints !== undefined && !constraints.ca)) {
    throw new CertificateError('x509: invalid signature: parent certificate cannot sign this kind of certificate');
  }
  if (signer.keyUsageBits !== undefined && (signer.keyUsageBits & CERT_SIGN) === 0) {
    throw new CertificateError('x509: invalid signature: parent certificate cannot sign this kind of certificate');
  }
  if (constraints?.maxPathLength !== undefined && below > constraints.maxPathLength) {
    throw new CertificateError('x509: too many intermediates for path length constraint');
  }
  if (signer.unhandledCriticalExtensions.length > 0) throw new CertificateError('x509: unhandled critical extension');
  if (INSECURE.has(signed.signatureAlgorithm)) {
    throw new CertificateError('x509: cannot verify signature: insecure algorithm');
  }
  if (!signed.x509.verify(signer.x509.publicKey)) {
    throw new CertificateError('x509: certificate signed by unknown authority');
  }
}

function checkValidity(certificate: Certificate, nowMs: number): void {
  const text = 'x509: certificate has expired or is not yet valid: current time';
  const now = rfc3339(nowMs);
  if (nowMs < certificate.notBeforeMs) {
    throw new CertificateError(`${text} ${now} is before ${rfc3339(certificate.notBeforeMs)}`);
  }
  // A certificate holds through the whole of its last second.
  if (nowMs >= certificate.notAfterMs + 1000) {
    throw new CertificateError(`${text} ${now} is after ${rfc3339(certificate.notAfterMs)}`);
  }
}

function checkUsage(path: readonly Certificate[], usage: string): readonly Certificate[] {
  for (const { extendedKeyUsages } of path) {
    if (extendedKeyUsages === undefined) continue;
    if (extendedKeyUsages.includes(usage) || extendedKeyUsages.includes(ANY_USAGE)) continue;
    throw new CertificateError('x509: certificate specifies an incompatible key usage');
  }
  return path;
}

function recordFailure(search: Search, error: unknown): void {
  search.failure ??=
    error instanceof CertificateError ? error : new CertificateError('x509: certificate signed by unknown authority');
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
