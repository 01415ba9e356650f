import type { UserInfo } from '../machinery/user.js';
import type { AuthorizationAttributes, Authorizer } from './authorizer.js';

type SignerVerb = 'approve' | 'sign' | 'attest';

/** Whether the user may act for a signer. */
export async function mayActForSigner(
  authorizer: Authorizer,
  user: UserInfo,
  verb: SignerVerb,
  signerName: string,
): Promise<boolean> {
  for (const question of signerQuestions(user, verb, signerName)) {
    const { decision } = await authorizer.authorize(question);
    if (decision === 'allow') return true;
  }
  return false;
}

/** One of these must be allowed: a user acts for a signer by its own name, or by all of its domain. */
export function signerQuestions(user: UserInfo, verb: SignerVerb, signerName: string): AuthorizationAttributes[] {
  const domain = signerName.split('/', 1)[0] ?? '';
  return [signerName, `${domain}/*`].map((name) => ({
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
  }));
}
