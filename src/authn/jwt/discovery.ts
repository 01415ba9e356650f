// Where an issuer's keys are: its discovery document.
import { goQuote } from '../../lib/go-quote.js';
import { isPlainObject, ownMember } from '../../lib/plain-object.js';
import { type FetchDocument, parseDocument } from './issuer-http.js';

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
  const parsed = parseDocument(document);
  if ('error' in parsed) throw new Error(`oidc: failed to decode provider discovery object: ${parsed.error}`);
  const text = (name: string): string => {
    const value = isPlainObject(parsed.json) ? ownMember(parsed.json, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  if (text('issuer') !== issuer) {
    throw new Error(
      `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(issuer)} got ${goQuote(text('issuer'))}`,
    );
  }
  return text('jwks_uri');
}
