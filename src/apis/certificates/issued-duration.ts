// Counts whether signers honour the requested lifetime of a certificate: once for each, when it is issued.
import { parseCertificateBundle } from '../../lib/x509/certificate.js';
import type { LifeContext, Transaction } from '../../registry/kind.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';

export interface IssuedMetrics {
  /** A certificate was issued for a request that says how long it is wanted for. */
  issued(signer: string, honored: boolean): void;
}

export const observeIssued =
  (metrics: IssuedMetrics) =>
  async (
    object: CertificateSigningRequest,
    old: Readonly<CertificateSigningRequest>,
    { dryRun }: LifeContext,
  ): Promise<Transaction | undefined> => {
    const wantedSeconds = old.spec.expirationSeconds;
    if (dryRun || old.status.certificate || wantedSeconds == null) return undefined;
    return {
      commit: async () => {
        const { certificate } = object.status;
        if (certificate) metrics.issued(shown(old.spec.signerName), isHonored(certificate, wantedSeconds));
      },
      revert: async () => undefined,
    };
  };

/** Names that are not Kubernetes' own may be any number. */
const shown = (signer: string): string => (signer.startsWith('kubernetes.io/') ? signer : 'other');

const BACKDATED_SECONDS = 300;
const TOLERATED_SHARE = 1 / 20;

function isHonored(pemInBase64: string, wantedSeconds: number): boolean {
  try {
    const [first] = parseCertificateBundle(Buffer.from(pemInBase64, 'base64').toString());
    if (first === undefined) return false;
    const seconds = (first.notAfterMs - first.notBeforeMs) / 1000;
    return Math.abs(wantedSeconds - seconds) < BACKDATED_SECONDS + wantedSeconds * TOLERATED_SHARE;
  } catch {
    return false;
  }
}
