import type { Authorizer } from '../../authz/authorizer.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { certificateSigningRequest } from './certificate-signing-request.js';
import { clusterTrustBundle } from './cluster-trust-bundle.js';
import { type IssuedMetrics, observeIssued } from './issued-duration.js';
import { podCertificateRequest } from './pod-certificate-request.js';

export interface CertificatesServices {
  readonly authorizer: Authorizer;
  readonly issuedMetrics?: IssuedMetrics;
}

export const certificatesKinds = ({ authorizer, issuedMetrics }: CertificatesServices): readonly KindDefinition[] => [
  issuedMetrics === undefined ? certificateSigningRequest : counted(certificateSigningRequest, issuedMetrics),
  clusterTrustBundle,
  podCertificateRequest(authorizer),
];

function counted(
  kind: KindDefinition<CertificateSigningRequest>,
  metrics: IssuedMetrics,
): KindDefinition<CertificateSigningRequest> {
  const { status } = kind.strategy;
  if (status === undefined) return kind;
  return { ...kind, strategy: { ...kind.strategy, status: { ...status, begin: observeIssued(metrics) } } };
}
