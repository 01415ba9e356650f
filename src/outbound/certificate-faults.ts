// What is wrong with a server's certificate by today's rules, whether it was trusted nevertheless or not.
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { parseCertificate } from '../lib/x509/certificate.js';
import { OutboundError } from './outbound-error.js';

/** No alternative names; a signature by SHA-1. */
export type CertificateFault = 'missing-san' | 'insecure-sha1';

/** `host` is the host of the request's URL. */
export type OnCertificateFault = (fault: CertificateFault, host: string) => void;

export const NO_NAMES = 'x509: certificate relies on legacy Common Name field, use SANs instead';

const SHA1_SIGNATURES: ReadonlySet<string> = new Set(['1.2.840.113549.1.1.5', '1.2.840.10045.4.1']);
const MAX_CERTIFICATES = 10;

/** Of a connection that stands. */
export function faultsOf(socket: TLSSocket): readonly CertificateFault[] {
  const chain = chainOf(socket.getPeerCertificate(true));
  const faults: CertificateFault[] = [];
  if (chain[0] !== undefined && !chain[0].subjectaltname) faults.push('missing-san');
  if (chain.some(isSignedBySha1)) faults.push('insecure-sha1');
  return faults;
}

/** Of one that was not made because of the certificate. */
export const faultsOfError = (error: unknown): readonly CertificateFault[] =>
  error instanceof OutboundError && error.failure === 'tls' && error.message.includes(NO_NAMES) ? ['missing-san'] : [];

function chainOf(leaf: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next?.raw !== undefined && chain.length < MAX_CERTIFICATES && !chain.includes(next)) {
    chain.push(next);
    next = next.issuerCertificate as DetailedPeerCertificate | undefined;
  }
  return chain;
}

/** Roots sign themselves, and nobody relies on that. */
function isSignedBySha1({ raw }: DetailedPeerCertificate): boolean {
  try {
    const { signatureAlgorithm, issuer, subject } = parseCertificate(raw);
    return SHA1_SIGNATURES.has(signatureAlgorithm) && !issuer.raw.equals(subject.raw);
  } catch {
    return false;
  }
}
