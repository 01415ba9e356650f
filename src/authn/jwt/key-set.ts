// The keys of an issuer, fetched when the first token needs them.
//
//   token ──kid known──▶ verify                       keys that are known are never fetched again for their age:
//     └────kid unknown──▶ fresh by cache-control? no   they go on working while the issuer is away
//                           └─▶ fetch (one at a time, ten a second) ─▶ verify
import { TokenBucket } from '../../lib/async/token-bucket.js';
import { errorText } from '../../lib/text/error-text.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import type { CompactToken } from './compact-token.js';
import { foldedMember } from './folded-member.js';
import { type FetchDocument, type IssuerDocument, readDocument, wrongType } from './issuer-http.js';
import { type IssuerKey, readJsonWebKey } from './json-web-key.js';
import { isSignedBy } from './verify-signature.js';

export interface KeySet {
  /** Throws an AuthenticationError unless one of the issuer's keys signed the token. */
  verify(token: CompactToken): Promise<void>;
}

export interface KeySetOptions {
  readonly url: string;
  readonly fetch: FetchDocument;
  readonly nowMs: () => number;
}

interface Fetched {
  readonly keys: readonly IssuerKey[];
  /** Until when the issuer says they do not change. */
  readonly freshUntilMs: number;
}

const FRESHNESS_MARGIN_MS = 30_000;
/** So many fetches may come at once, and then one every so often: bad tokens cost the issuer no more than this. */
const FETCH_BURST = 40;
const FETCH_INTERVAL_MS = 100;
/** A token that names no key is tried with so many at most. */
const MAX_KEYS = 100;

export function createKeySet({ url, fetch, nowMs }: KeySetOptions): KeySet {
  let known: Fetched = { keys: [], freshUntilMs: 0 };
  let running: Promise<Fetched> | undefined;
  const fetches = new TokenBucket({ burst: FETCH_BURST, everyMs: FETCH_INTERVAL_MS }, nowMs());

  const refresh = (): Promise<Fetched> | undefined => {
    if (running === undefined && fetches.tryTake(nowMs())) {
      running = fetchKeys(url, fetch, nowMs)
        .then((fetched) => (known = fetched))
        .finally(() => (running = undefined));
    }
    return running;
  };

  return {
    async verify(token) {
      if (isSigned(known.keys, token)) return;
      if (nowMs() + FRESHNESS_MARGIN_MS <= known.freshUntilMs) throw unverified();
      const fetching = refresh();
      if (fetching === undefined) throw unverified();
      let fetched: Fetched;
      try {
        fetched = await fetching;
      } catch (error) {
        throw new AuthenticationError(`failed to verify signature: fetching keys ${errorText(error)}`);
      }
      if (!isSigned(fetched.keys, token)) throw unverified();
    },
  };
}

const unverified = (): AuthenticationError =>
  new AuthenticationError('failed to verify signature: failed to verify id token signature');

/** By the key that the token names, or by any when it names none. What a reader must know besides, none of ours does. */
const isSigned = (keys: readonly IssuerKey[], { text, keyId, algorithm, isCritical }: CompactToken): boolean =>
  !isCritical &&
  keys.some(({ id, key }) => (keyId === '' || id === keyId) && key !== undefined && isSignedBy(text, algorithm, key));

async function fetchKeys(url: string, fetch: FetchDocument, nowMs: () => number): Promise<Fetched> {
  let document: IssuerDocument;
  try {
    document = await fetch(url);
  } catch (error) {
    throw new Error(`oidc: get keys failed ${errorText(error)}`, { cause: error });
  }
  if (document.status !== 200) throw new Error(`oidc: get keys failed: ${document.statusLine} ${document.body}`);
  const read = readDocument(document, keysOf);
  if ('error' in read) throw new Error(`oidc: failed to decode keys: ${read.error} ${document.body}`);
  return { keys: read.value, freshUntilMs: freshUntil(document, nowMs()) };
}

function keysOf(json: unknown): IssuerKey[] {
  if (json === null) return [];
  if (!isPlainObject(json)) throw wrongType(json, 'value of type jose.JSONWebKeySet');
  const list = foldedMember(json, 'keys') ?? [];
  if (!Array.isArray(list)) throw wrongType(list, 'struct field JSONWebKeySet.keys of type []jose.JSONWebKey');
  return list.slice(0, MAX_KEYS).map(readJsonWebKey);
}

/** What the answer's headers promise; not at all when they say nothing. */
function freshUntil({ headers }: IssuerDocument, nowMs: number): number {
  const directives = (headers['cache-control'] ?? '').split(',').map((part) => part.trim().toLowerCase());
  for (const name of ['s-maxage=', 'max-age=']) {
    const seconds = directives.find((directive) => directive.startsWith(name))?.slice(name.length);
    if (seconds !== undefined && /^"?\d{1,10}"?$/.test(seconds))
      return nowMs + Number(seconds.replaceAll('"', '')) * 1000;
  }
  const expiresMs = Date.parse(headers['expires'] ?? '');
  const dateMs = Date.parse(headers['date'] ?? '');
  return Number.isNaN(expiresMs) ? 0 : nowMs + expiresMs - (Number.isNaN(dateMs) ? nowMs : dateMs);
}
