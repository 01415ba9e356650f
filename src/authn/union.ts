// Several ways to authenticate, tried in order.
import { append } from '../lib/values/append.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { Authenticated, RequestAuthenticator, TokenAuthenticator } from './authenticator.js';
import { AuthenticationError } from './authenticator.js';

/** The first success counts. Without one, everything that was refused on the way is one error. */
export const unionOfRequests = (members: readonly RequestAuthenticator[]): RequestAuthenticator => ({
  authenticate: (request) => firstSuccess(members, (member) => member.authenticate(request)),
});

export const unionOfTokens = (members: readonly TokenAuthenticator[]): TokenAuthenticator => ({
  authenticateToken: (token, audiences, connection) =>
    firstSuccess(members, (member) => member.authenticateToken(token, audiences, connection)),
});

// hot: every request; nothing is awaited while the members answer at once.
function firstSuccess<Member>(
  members: readonly Member[],
  attempt: (member: Member) => MaybePromise<Authenticated | undefined>,
): MaybePromise<Authenticated | undefined> {
  const refusals: string[] = [];
  for (let index = 0; index < members.length; index++) {
    try {
      const result = attempt(members[index] as Member);
      if (result instanceof Promise) return goOn(result, members.slice(index + 1), attempt, refusals);
      if (result !== undefined) return result;
    } catch (error) {
      append(refusals, refusalOf(error));
    }
  }
  return nobody(refusals);
}

async function goOn<Member>(
  first: Promise<Authenticated | undefined>,
  rest: readonly Member[],
  attempt: (member: Member) => MaybePromise<Authenticated | undefined>,
  refusals: string[],
): Promise<Authenticated | undefined> {
  let result = await first.catch((error: unknown) => append(refusals, refusalOf(error)));
  for (const member of rest) {
    if (result !== undefined) break;
    try {
      result = await attempt(member);
    } catch (error) {
      append(refusals, refusalOf(error));
    }
  }
  return result ?? nobody(refusals);
}

/** Anything but a refusal is our own failure, and ends the search. */
function refusalOf(error: unknown): readonly string[] {
  if (!(error instanceof AuthenticationError)) throw error;
  return error.reasons;
}

function nobody(refusals: readonly string[]): undefined {
  if (refusals.length > 0) throw new AuthenticationError(refusals);
  return undefined;
}
