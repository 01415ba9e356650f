// Several ways to authenticate, tried in order.
import { aggregateText } from '../machinery/field-error.js';
import type { Authenticated, RequestAuthenticator, TokenAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';

/** The first success counts. Without one, everything that was refused on the way is one error. */
export const unionOfRequests = (members: readonly RequestAuthenticator[]): RequestAuthenticator => ({
  authenticate: (request) => firstSuccess(members, (member) => member.authenticate(request)),
});

export const unionOfTokens = (members: readonly TokenAuthenticator[]): TokenAuthenticator => ({
  authenticateToken: (token, audiences) =>
    firstSuccess(members, (member) => member.authenticateToken(token, audiences)),
});

async function firstSuccess<Member>(
  members: readonly Member[],
  attempt: (member: Member) => Promise<Authenticated | undefined>,
): Promise<Authenticated | undefined> {
  const refusals: string[] = [];
  for (const member of members) {
    try {
      const result = await attempt(member);
      if (result !== undefined) return result;
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      refusals.push(error.message);
    }
  }
  if (refusals.length > 0) throw new AuthenticationError(aggregateText(refusals));
  return undefined;
}
