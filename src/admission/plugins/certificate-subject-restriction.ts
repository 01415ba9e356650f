import { parseCertificateRequestPem } from '../../lib/x509/certificate-request.js';
import { errorText } from '../../lib/text/error-text.js';
import { MASTERS_GROUP } from '../../machinery/user.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Nobody gets a client certificate of the group that may do everything. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  handles: (operation) => operation === 'CREATE',
  validate: onlyFor('certificates.k8s.io', 'certificatesigningrequests', (attributes) => {
    const { spec } = attributes.object as CertificateSigningRequest;
    if (spec.signerName !== CLIENT_SIGNER) return;
    if (!organizationsOf(attributes, spec.request).includes(MASTERS_GROUP)) return;
    throw forbid(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`);
  }),
};

function organizationsOf(attributes: AdmissionAttributes, request: string | null): readonly string[] {
  try {
    const { subject } = parseCertificateRequestPem(Buffer.from(request ?? '', 'base64').toString());
    return subject.organizations;
  } catch (error) {
    throw forbid(attributes, `failed to parse CSR: ${errorText(error)}`);
  }
}
