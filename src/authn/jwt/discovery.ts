// Where an issuer's keys are: its discovery document.
import { goQuote } from '../../lib/go/quote.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { foldedMember } from './folded-member.js';
import { type FetchDocument, readDocument, wrongType } from './issuer-http.js';

const WELL_KNOWN = '/.well-known/openid-configuration';

export interface DiscoveryOptions {
  readonly fetch: FetchDocument;
  readonly issuer: string;
  /** Where the document lies, when not below the issuer's own address. */
  readonly discoveryUrl?: string;
}

/** The address of the keys. Throws when the document cannot be had or is another issuer's. */
export async function discoverKeysUrl({ fetch, issuer, discoveryUrl }: DiscoveryOptions): Promise<string> {
  const document = await fetch(discoveryUrl ?? `${issuer.endsWith('/') ? issuer.slice(0, -1) : issuer}${WELL_KNOWN}`);
  if (document.status !== 200) throw new Error(`${document.statusLine}: ${document.body}`);
  const read = readDocument(document, membersOf);
  if ('error' in read) throw new Error(`oidc: failed to decode provider discovery object: ${read.error}`);
  const text = (name: string): string => read.value.get(name) ?? '';
  if (text('issuer') !== issuer) {
    throw new Error(
      `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(issuer)} got ${goQuote(text('issuer'))}`,
    );
  }
  return text('jwks_uri');
}

const TEXTS = ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'];
const ALGORITHMS = 'id_token_signing_alg_values_supported';

/** The texts of a document. What kube-apiserver has a type for must be of it, used or not. */
function membersOf(json: unknown): ReadonlyMap<string, string> {
  if (json !== null && !isPlainObject(json)) throw wrongType(json, 'value of type oidc.providerJSON');
  const wrong = (value: unknown, name: string, type: string): Error =>
    wrongType(value, `struct field providerJSON.${name} of type ${type}`);
  const algorithms = foldedMember(json ?? {}, ALGORITHMS) ?? [];
  if (!Array.isArray(algorithms)) throw wrong(algorithms, ALGORITHMS, '[]string');
  const odd: unknown = algorithms.find((item: unknown) => item !== null && typeof item !== 'string');
  if (odd !== undefined) throw wrong(odd, ALGORITHMS, 'string');
  return new Map(
    TEXTS.map((name) => {
      const value = foldedMember(json ?? {}, name) ?? '';
      if (typeof value !== 'string') throw wrong(value, name, 'string');
      return [name, value];
    }),
  );
}
