// An external signer of service-account tokens: it holds the private keys, and we follow the public ones.
import type { Logger } from '../../lib/telemetry/log.js';
import { base64Fault } from '../../lib/text/base64-fault.js';
import type { Clock } from '../../lib/async/clock.js';
import { TokenBucket } from '../../lib/async/token-bucket.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { timeoutUnlessAborted } from '../../lib/async/timeout-unless-aborted.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { parseExactJson } from '../../schema/json/parse.js';
import { tokenClaims, type TokenIssuer } from './issuer.js';
import { SignerError, type SignerClient } from './signer-client.js';
import {
  decodeKeys,
  EMPTY_REQUEST,
  type ExternalKey,
  type SignerKeys,
  METADATA_RESPONSE,
  SIGN_REQUEST,
  SIGN_RESPONSE,
} from './signer-messages.js';
import type { SignerMetrics } from './signer-metrics.js';

export interface ExternalSigner extends TokenIssuer {
  /** Keys of this id, or all for the empty one. An unknown id triggers another fetch. */
  keys(id: string): Promise<readonly ExternalKey[]>;
  /** Those that others may verify tokens with. */
  published(): readonly ExternalKey[];
  /** How long the published keys may be cached. */
  maxAgeSeconds(): number;
  readonly maxTokenExpirationSeconds: number;
}

export interface ExternalSignerOptions {
  readonly issuer: string;
  readonly client: SignerClient;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly metrics: SignerMetrics;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const FETCH_TIMEOUT_MS = 60_000;
const METADATA_TIMEOUT_MS = 10_000;
const SIGN_TIMEOUT_MS = 30_000;
const FALLBACK_REFRESH_MS = 10_000;
const MIN_TOKEN_LIFE_SECONDS = 600;
const FETCH_BURST = 10;
const FETCH_EVERY_MS = 1000;

/** Rejects when the signer cannot be used. */
export async function startExternalSigner(options: ExternalSignerOptions): Promise<ExternalSigner> {
  const { client, clock, metrics, signal } = options;
  const fetches = new TokenBucket({ burst: FETCH_BURST, everyMs: FETCH_EVERY_MS }, clock.now());
  let known: SignerKeys = { keys: [], dataTimestampSeconds: 0, refreshHintSeconds: 0 };
  let published: readonly ExternalKey[] = [];
  let refreshAtMs = 0;
  let running: Promise<void> | undefined;

  const fetchKeys = async (): Promise<void> => {
    try {
      known = decodeKeys(await client.call('FetchKeys', EMPTY_REQUEST, FETCH_TIMEOUT_MS));
    } catch (error) {
      const during = error instanceof SignerError ? 'while getting externally supported jwt signing keys: ' : '';
      metrics.fetched(codeOf(error));
      throw new Error(`while fetching token verification keys: ${during}${errorText(error)}`, { cause: error });
    }
    published = known.keys.filter((key) => !key.unpublished);
    refreshAtMs = clock.now() + known.refreshHintSeconds * 1000;
    metrics.fetched('OK');
    metrics.dataTimestamp(known.dataTimestampSeconds);
  };
  const sync = (): Promise<void> => (running ??= fetchKeys().finally(() => (running = undefined)));
  const keep = (): void => {
    sync().then(
      () => refreshIn(refreshAtMs - clock.now()),
      (error: unknown) => {
        options.log.warning(`Kept the keys in use: ${errorText(error)}`);
        refreshIn(FALLBACK_REFRESH_MS);
      },
    );
  };
  const refreshIn = (ms: number): void => timeoutUnlessAborted(clock, ms, signal, keep);

  const found = (id: string): readonly ExternalKey[] =>
    id === '' ? known.keys : known.keys.filter((key) => key.id === id);
  const keys = async (id: string): Promise<readonly ExternalKey[]> => {
    const list = found(id);
    if (list.length > 0 || (running === undefined && !fetches.tryTake(clock.now()))) return list;
    try {
      await sync();
    } catch (error) {
      options.log.warning(errorText(error));
      return [];
    }
    return found(id);
  };

  await sync().catch((error: unknown) => {
    throw setUpError(`while initially filling key cache: while performing initial cache fill: ${errorText(error)}`);
  });
  const { maxTokenExpirationSeconds } = await metadataOf(client);
  refreshIn(refreshAtMs - clock.now());
  signal.addEventListener('abort', () => client.close(), { once: true });
  return {
    keys,
    published: () => published,
    maxAgeSeconds: () => Math.max(0, Math.floor((refreshAtMs - clock.now()) / 1000)),
    maxTokenExpirationSeconds,
    async issue(request) {
      const id = options.newId();
      const claims = Buffer.from(tokenClaims(request, options.issuer, id)).toString('base64url');
      try {
        const token = await sign(client, claims, keys);
        metrics.signed('OK');
        return { token, id };
      } catch (error) {
        metrics.signed(codeOf(error));
        throw error;
      }
    },
  };
}

const setUpError = (why: string): Error => new Error(`while setting up external-jwt-signer: ${why}`);

async function metadataOf(client: SignerClient): Promise<{ readonly maxTokenExpirationSeconds: number }> {
  const answer = await client.call('Metadata', EMPTY_REQUEST, METADATA_TIMEOUT_MS).catch((error: unknown) => {
    throw setUpError(errorText(error));
  });
  const metadata = METADATA_RESPONSE.decode(answer);
  if (metadata.maxTokenExpirationSeconds >= MIN_TOKEN_LIFE_SECONDS) return metadata;
  throw new Error(
    `max token life supported by external-jwt-signer (${metadata.maxTokenExpirationSeconds}s) is less than acceptable (min ${MIN_TOKEN_LIFE_SECONDS}s)`,
  );
}

/** What did not fail in a call was wrong in its answer. */
const codeOf = (error: unknown): string => (error instanceof SignerError ? error.code : 'unknown-non-grpc');

async function sign(client: SignerClient, claims: string, keys: ExternalSigner['keys']): Promise<string> {
  let answer: Buffer;
  try {
    answer = await client.call('Sign', SIGN_REQUEST.encode({ claims }), SIGN_TIMEOUT_MS);
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    error.message = `while signing jwt: ${error.message}`;
    throw error;
  }
  const { header, signature } = SIGN_RESPONSE.decode(answer);
  try {
    const keyId = checkHeader(header);
    if ((await keys(keyId)).some((key) => key.unpublished)) {
      throw new Error(`key used for signing JWT (kid: ${keyId}) is excluded from OIDC discovery docs`);
    }
  } catch (error) {
    throw new Error(`while validating header: ${errorText(error)}`, { cause: error });
  }
  if (signature === '') throw new Error('empty signature returned');
  return `${header}.${claims}.${signature}`;
}

const MAX_KEY_ID_LENGTH = 1024;
const HEADER_FIELDS: ReadonlySet<string> = new Set(['alg', 'kid', 'typ']);
const ALGORITHMS: ReadonlySet<string> = new Set(['RS256', 'ES256', 'ES384', 'ES512']);

/** The id of the key it names. */
function checkHeader(encoded: string): string {
  const fault = base64Fault(encoded, { url: true, padded: false });
  if (fault !== undefined) throw new Error(`while unwrapping header: illegal base64 data at input byte ${fault}`);
  const { typ, kid, alg } = headerFields(Buffer.from(encoded, 'base64url').toString('utf8'));
  if (typ !== 'JWT') throw new Error('bad type');
  if (kid === '') throw new Error('key id missing');
  if (Buffer.byteLength(kid) > MAX_KEY_ID_LENGTH) throw new Error('key id longer than 1 kb');
  if (!ALGORITHMS.has(alg)) throw new Error(`bad signing algorithm ${goQuote(alg)}`);
  return kid;
}

function headerFields(text: string): { readonly typ: string; readonly kid: string; readonly alg: string } {
  try {
    const { value } = parseExactJson(text);
    if (!isPlainObject(value)) throw new Error(cannotUnmarshal(value, 'a header'));
    const unknown = Object.keys(value).find((name) => !HEADER_FIELDS.has(name));
    if (unknown !== undefined) throw new Error(`json: unknown field ${goQuote(unknown)}`);
    const field = (name: 'typ' | 'kid' | 'alg'): string => {
      const member = value[name] ?? '';
      if (typeof member === 'string') return member;
      throw new Error(cannotUnmarshal(member, `Go struct field .${name} of type string`));
    };
    return { typ: field('typ'), kid: field('kid'), alg: field('alg') };
  } catch (error) {
    throw new Error(`while parsing header JSON: ${errorText(error)}`, { cause: error });
  }
}
