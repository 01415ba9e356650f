import type { Authorizer } from '../../authz/authorizer.js';
import { mayActForSigner } from '../../authz/signer-rights.js';
import { goQuote } from '../../lib/go/quote.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

/** Approving requires the right to approve for the signer that would issue. */
export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: (operation) => operation === 'UPDATE',
  validate: onlyFor(
    'certificates.k8s.io',
    'certificatesigningrequests',
    async (attributes) => {
      const { signerName } = (attributes.old as CertificateSigningRequest).spec;
      if (await mayActForSigner(authorizer, attributes.context.user, 'approve', signerName)) return;
      throw forbid(attributes, `user not permitted to approve requests with signerName ${goQuote(signerName)}`);
    },
    'approval',
  ),
});
