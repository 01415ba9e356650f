import type { Authorizer } from '../../authz/authorizer.js';
import { goQuote } from '../../lib/go-quote.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';
import { maySignerVerb } from '../signer-rights.js';

/** Approving takes the right to approve for the signer that would issue. */
export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: (operation) => operation === 'UPDATE',
  validate: onlyFor(
    'certificates.k8s.io',
    'certificatesigningrequests',
    async (attributes) => {
      const { signerName } = (attributes.old as CertificateSigningRequest).spec;
      if (await maySignerVerb(authorizer, attributes.context.user, 'approve', signerName)) return;
      throw forbid(attributes, `user not permitted to approve requests with signerName ${goQuote(signerName)}`);
    },
    'approval',
  ),
});
