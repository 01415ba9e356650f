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

/** Those wanted that are known, in the order and as often as they are wanted. */
export function intersect(known: readonly string[], wanted: readonly string[]): string[] {
  // Either side may name a hundred thousand; where few are known, looking through them is quicker than to make a set.
  if (known.length <= FEW) return wanted.filter((value) => known.includes(value));
  const all = new Set(known);
  return wanted.filter((value) => all.has(value));
}

const FEW = 16;
