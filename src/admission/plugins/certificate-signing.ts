import type { Authorizer } from '../../authz/authorizer.js';
import { mayActForSigner } from '../../authz/signer-rights.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

/** Issuing a certificate, or failing to, requires the right to sign for its signer. */
export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  handles: (operation) => operation === 'UPDATE',
  validate: onlyFor(
    'certificates.k8s.io',
    'certificatesigningrequests',
    async (attributes) => {
      const before = attributes.old as CertificateSigningRequest;
      const after = attributes.object as CertificateSigningRequest;
      const sameCertificate = (before.status?.certificate ?? '') === (after.status?.certificate ?? '');
      if (sameCertificate && deepEqual(before.status?.conditions, after.status?.conditions)) return;
      const { signerName } = before.spec;
      if (await mayActForSigner(authorizer, attributes.context.user, 'sign', signerName)) return;
      throw forbid(attributes, `user not permitted to sign requests with signerName ${goQuote(signerName)}`);
    },
    'status',
  ),
});
