import type { Authorizer } from '../../authz/authorizer.js';
import { goQuote } from '../../lib/go-quote.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';
import { maySignerVerb } from '../signer-rights.js';

/** Approving takes the right to approve for the signer that would issue. */
export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: (operation) => operation === 'UPDATE',
  async validate(attributes) {
    const { resource, subresource, old, context } = attributes;
    if (subresource !== 'approval' || resource.resource !== 'certificatesigningrequests') return;
    if (resource.group !== 'certificates.k8s.io') return;
    const { signerName } = (old as CertificateSigningRequest).spec;
    if (await maySignerVerb(authorizer, context.user, 'approve', signerName)) return;
    throw forbid(attributes, `user not permitted to approve requests with signerName ${goQuote(signerName)}`);
  },
});
