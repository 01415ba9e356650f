import type { Authorizer } from '../../authz/authorizer.js';
import { deepEqual } from '../../lib/deep-equal.js';
import { goQuote } from '../../lib/go-quote.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';
import { maySignerVerb } from '../signer-rights.js';

/** Issuing a certificate, or failing to, takes the right to sign for its signer. */
export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  handles: (operation) => operation === 'UPDATE',
  async validate(attributes) {
    const { resource, subresource, object, old, context } = attributes;
    if (subresource !== 'status' || resource.resource !== 'certificatesigningrequests') return;
    if (resource.group !== 'certificates.k8s.io') return;
    const before = old as CertificateSigningRequest;
    const after = object as CertificateSigningRequest;
    const sameCertificate = (before.status?.certificate ?? '') === (after.status?.certificate ?? '');
    if (sameCertificate && deepEqual(before.status?.conditions, after.status?.conditions)) return;
    const { signerName } = before.spec;
    if (await maySignerVerb(authorizer, context.user, 'sign', signerName)) return;
    throw forbid(attributes, `user not permitted to sign requests with signerName ${goQuote(signerName)}`);
  },
});
