// Tokens of one issuer, from the token to the user.
import type { Authenticated, TokenAuthenticator } from '../authenticator.js';
import { AuthenticationError } from '../authenticator.js';
import type { Claims } from './compact-token.js';
import type { DistributedClaims } from './distributed-claims.js';
import type { Issuer } from './issuer.js';
import { type ClaimMappings, userOfClaims } from './user-of-claims.js';

export interface JwtAuthenticatorOptions {
  readonly issuer: Issuer;
  readonly mappings: ClaimMappings;
  readonly distributed?: DistributedClaims;
  /** Observes every token of this issuer. */
  readonly observe: (result: 'success' | 'failure', durationMs: number) => void;
}

/** For tokens that say they are this issuer's. */
export function createJwtAuthenticator(options: JwtAuthenticatorOptions): TokenAuthenticator {
  return {
    async authenticateToken(token): Promise<Authenticated> {
      const startedMs = performance.now();
      let result: 'success' | 'failure' = 'failure';
      try {
        const user = userOfClaims(await verifiedClaims(token, options), options.mappings);
        result = 'success';
        return { user };
      } finally {
        options.observe(result, performance.now() - startedMs);
      }
    },
  };
}

async function verifiedClaims(token: string, { issuer, distributed }: JwtAuthenticatorOptions): Promise<Claims> {
  const verifier = issuer.verifier();
  if (verifier === undefined) throw new AuthenticationError('oidc: authenticator not initialized');
  let claims: Claims;
  try {
    claims = await verifier.verify(token);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    throw new AuthenticationError(`oidc: verify token: ${error.message}`);
  }
  return distributed === undefined ? claims : distributed.expand(claims);
}
