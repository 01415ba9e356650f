import type { Authorizer } from '../../authz/authorizer.js';
import { mayActForSigner } from '../../authz/signer-rights.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { KubeObject } from '../../machinery/object.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

/** A bundle that speaks for a signer is written only by those who may attest for it. */
export const clusterTrustBundleAttest = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'ClusterTrustBundleAttest',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate: onlyFor('certificates.k8s.io', 'clustertrustbundles', async (attributes) => {
    const { operation, object, old, context } = attributes;
    if (object === undefined || !context.features.enabled('ClusterTrustBundle')) return;
    const { signerName } = (object as KubeObject & { spec: { signerName?: string } }).spec;
    if (!signerName) return;
    if (operation === 'UPDATE' && old !== undefined && deepEqual(beyondGarbage(object), beyondGarbage(old))) return;
    if (await mayActForSigner(authorizer, context.user, 'attest', signerName)) return;
    throw forbid(attributes, `user not permitted to attest for signerName ${goQuote(signerName)}`);
  }),
});

/** What remains when the fields the garbage collector writes are left out. */
function beyondGarbage(object: Readonly<KubeObject>): object {
  const { ownerReferences: _o, finalizers: _f, selfLink: _s, managedFields: _m, ...metadata } = object.metadata;
  return { ...object, metadata };
}
