// Signs service-account tokens.
import { CompactSign } from 'jose';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { type BoundClaims, writeClaims } from './claims.js';
import { serviceAccountUserName } from './identity.js';
import type { SigningKey } from './keys.js';

export interface TokenIssuer {
  issue(request: TokenToIssue): Promise<IssuedToken>;
}

export interface TokenToIssue {
  readonly bound: BoundClaims;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly now: Date;
}

export interface IssuedToken {
  readonly token: string;
  /** The `jti` claim; empty for a token without one. */
  readonly id: string;
}

export interface TokenIssuerOptions {
  /** The first of --service-account-issuer. */
  readonly issuer: string;
  readonly key: SigningKey;
  readonly newId: () => string;
}

export function createTokenIssuer({ issuer, key, newId }: TokenIssuerOptions): TokenIssuer {
  return {
    async issue(request) {
      const id = newId();
      const claims = Buffer.from(tokenClaims(request, issuer, id));
      // Audiences may be very many: signing costs as much as encoding them.
      await workOn(claims.length).pause();
      const token = await new CompactSign(claims)
        .setProtectedHeader({ alg: key.algorithm, kid: key.id })
        .sign(key.privateKey);
      return { token, id };
    },
  };
}

/** The payload of a new token. */
export function tokenClaims(
  { bound, audiences, expirationSeconds, now }: TokenToIssue,
  issuer: string,
  id: string,
): string {
  const issuedAt = Math.floor(now.getTime() / 1000);
  return writeClaims(
    {
      iss: issuer,
      sub: serviceAccountUserName(bound.namespace, bound.serviceaccount.name ?? ''),
      aud: audiences,
      jti: id,
      exp: issuedAt + expirationSeconds,
      nbf: issuedAt,
      iat: issuedAt,
    },
    bound,
  );
}
