// Tokens that know no audiences of their own hold for the server's.
import type { TokenAuthenticator } from './authenticator.js';

export const audienceAgnostic = (tokens: TokenAuthenticator, apiAudiences: readonly string[]): TokenAuthenticator => ({
  async authenticateToken(token, audiences) {
    const shared = intersect(apiAudiences, audiences.length === 0 ? apiAudiences : audiences);
    if (shared.length === 0 && audiences.length > 0) return undefined;
    const result = await tokens.authenticateToken(token, audiences);
    return result === undefined ? undefined : { ...result, audiences: shared };
  },
});

/** The members of `left` that `right` has too. */
export function intersect(left: readonly string[], right: readonly string[]): string[] {
  // Who asks may name a hundred thousand; to look through them for a few is quicker than to make a set of them.
  if (left.length <= FEW) return left.filter((value) => right.includes(value));
  const wanted = new Set(right);
  return left.filter((value) => wanted.has(value));
}

const FEW = 16;
