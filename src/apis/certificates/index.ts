import type { Authorizer } from '../../authz/authorizer.js';
import type { KindDefinition } from '../../registry/kind.js';
import { certificateSigningRequest } from './certificate-signing-request.js';
import { clusterTrustBundle } from './cluster-trust-bundle.js';
import { podCertificateRequest } from './pod-certificate-request.js';

export const certificatesKinds = ({ authorizer }: { readonly authorizer: Authorizer }): readonly KindDefinition[] => [
  certificateSigningRequest,
  clusterTrustBundle,
  podCertificateRequest(authorizer),
];
