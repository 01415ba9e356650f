import type { Authorizer } from '../authz/authorizer.js';
import type { UserInfo } from '../machinery/user.js';

/** Whether the user may act for a signer: by its own name, or by all of its domain. */
export async function maySignerVerb(
  authorizer: Authorizer,
  user: UserInfo,
  verb: 'approve' | 'sign' | 'attest',
  signerName: string,
): Promise<boolean> {
  const domain = signerName.split('/', 1)[0] ?? '';
  for (const name of [signerName, `${domain}/*`]) {
    const { decision } = await authorizer.authorize({
      user,
      verb,
      resourceRequest: true,
      apiGroup: 'certificates.k8s.io',
      apiVersion: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    });
    if (decision === 'allow') return true;
  }
  return false;
}
