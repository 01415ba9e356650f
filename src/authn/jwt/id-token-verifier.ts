// Judges ID tokens of one issuer: first by what they say, then by who signed them.
import { AuthenticationError } from '../authenticator.js';
import { type Claims, goList, parseCompactToken } from './compact-token.js';
import { goQuote } from '../../lib/go/quote.js';
import type { KeySet } from './key-set.js';
import { checkRegisteredClaims, checkSeveralAudiences } from './registered-claims.js';

export interface IdTokenVerifier {
  /** The claims of a good token; an AuthenticationError otherwise. */
  verify(token: string): Promise<Claims>;
}

export interface IdTokenRules {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly nowMs: () => number;
}

export function createIdTokenVerifier(rules: IdTokenRules, keys: KeySet): IdTokenVerifier {
  const audiences = [...new Set(rules.audiences)].toSorted();
  return {
    async verify(token) {
      const parsed = parseCompactToken(token);
      const { claims, algorithm } = parsed;
      checkRegisteredClaims(claims, { issuer: rules.issuer, audiences }, rules.nowMs());
      if (!rules.algorithms.includes(algorithm)) {
        throw new AuthenticationError(
          `oidc: id token signed with unsupported algorithm, expected ${goList(rules.algorithms)} got ${goQuote(algorithm)}`,
        );
      }
      await keys.verify(parsed);
      checkSeveralAudiences(claims, audiences);
      return claims;
    },
  };
}
