// Distributed claims: the token says where a claim lies, and the claim comes from there in a token of its own.
//
//   "_claim_names":   { "groups": "src1" }
//   "_claim_sources": { "src1": { "endpoint": "https://graph.example/groups", "access_token": "…" } }
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { isPlainObject, ownMember } from '../../lib/values/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import { type Claims, readIssuer } from './compact-token.js';
import type { IdTokenVerifier } from './id-token-verifier.js';
import type { FetchDocument, IssuerDocument } from './issuer-http.js';
import type { Issuer } from './issuer.js';

export interface DistributedClaimOptions {
  /** The one claim that may lie elsewhere. */
  readonly claim: string;
  readonly fetch: FetchDocument;
  /** Begins to follow an issuer that a claim came from. */
  readonly follow: (issuer: string) => Issuer;
}

export interface DistributedClaims {
  /** The claims, with the one that lies elsewhere added. */
  expand(claims: Claims): Promise<Claims>;
}

const EXPANDING = 'oidc: could not expand distributed claims';
/** Claims are fetched from so many issuers; a token cannot make the server follow more. */
const MAX_ISSUERS = 32;

export function createDistributedClaims({ claim, fetch, follow }: DistributedClaimOptions): DistributedClaims {
  const issuers = new Map<string, Issuer>();

  const verifierOf = (issuer: string): IdTokenVerifier => {
    let known = issuers.get(issuer);
    if (known === undefined && issuers.size < MAX_ISSUERS) issuers.set(issuer, (known = follow(issuer)));
    const verifier = known?.verifier();
    if (verifier !== undefined) return verifier;
    throw new Error(
      `verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${goQuote(issuer)}`,
    );
  };

  const resolve = async (url: string, accessToken: string): Promise<unknown> => {
    let jwt: string;
    try {
      jwt = await getClaimToken(fetch, url, accessToken);
    } catch (error) {
      throw new Error(`while getting distributed claim ${goQuote(claim)}: ${errorText(error)}`, { cause: error });
    }
    const { issuer, error } = readIssuer(jwt);
    if (issuer === undefined) {
      throw new Error(`getting untrusted issuer from endpoint ${url} failed for claim ${goQuote(claim)}: ${error}`);
    }
    const claims = await judge(verifierOf(issuer), jwt);
    if (!Object.hasOwn(claims, claim)) {
      throw new Error(`jwt returned by distributed claim endpoint ${goQuote(url)} did not contain claim: ${claim}`);
    }
    return claims[claim];
  };

  return {
    async expand(claims) {
      if (Object.hasOwn(claims, claim)) return claims;
      if (Object.hasOwn(claims, '_claim_names') && !Object.hasOwn(claims, '_claim_sources')) {
        throw new AuthenticationError(`${EXPANDING}: oidc: no claim sources`);
      }
      const source = sourceOf(claims, claim);
      if (source === undefined) return claims;
      try {
        return { ...claims, [claim]: await resolve(source.endpoint, source.accessToken) };
      } catch (error) {
        throw new AuthenticationError(`${EXPANDING}: ${errorText(error)}`);
      }
    },
  };
}

/** Undefined without one; aggregated claims, which lie in the token itself, are passed over. */
function sourceOf(
  claims: Claims,
  claim: string,
): { readonly endpoint: string; readonly accessToken: string } | undefined {
  const names = ownMember(claims, '_claim_names');
  const sources = ownMember(claims, '_claim_sources');
  const name = isPlainObject(names) ? ownMember(names, claim) : undefined;
  const source = isPlainObject(sources) && typeof name === 'string' ? ownMember(sources, name) : undefined;
  const text = (key: string): string => {
    const value = isPlainObject(source) ? ownMember(source, key) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const endpoint = text('endpoint');
  return endpoint === '' ? undefined : { endpoint, accessToken: text('access_token') };
}

async function getClaimToken(fetch: FetchDocument, url: string, accessToken: string): Promise<string> {
  const answer: IssuerDocument = await fetch(url, accessToken === '' ? {} : { authorization: `Bearer ${accessToken}` });
  if (answer.status < 200 || answer.status > 226) {
    throw new Error(`error while getting distributed claim JWT: ${answer.statusLine}`);
  }
  return answer.body;
}

async function judge(verifier: IdTokenVerifier, jwt: string): Promise<Claims> {
  try {
    return await verifier.verify(jwt);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    throw new Error(`verify distributed claim token: ${error.message}`, { cause: error });
  }
}
