// The claims of an ID token that have a fixed meaning, read before its signature is looked at: what is refused for them
// costs no fetch of keys.
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import { type Claims, goList } from './compact-token.js';
import { foldedMember } from './folded-member.js';
import { goQuote } from '../../lib/go/quote.js';

export interface RegisteredRules {
  readonly issuer: string;
  /** Sorted; the token must be meant for one of them. */
  readonly audiences: readonly string[];
}

/** Clocks of servers differ. */
const NOT_BEFORE_LEEWAY_MS = 60_000;

export function checkRegisteredClaims(claims: Claims, { issuer, audiences }: RegisteredRules, nowMs: number): void {
  const own = readRegisteredClaims(claims);
  checkSources(claims);
  if (own.iss !== issuer && !(issuer === 'https://accounts.google.com' && own.iss === 'accounts.google.com')) {
    throw refused(`oidc: id token issued by a different provider, expected ${goQuote(issuer)} got ${goQuote(own.iss)}`);
  }
  const [only] = audiences;
  if (audiences.length === 1 && only !== undefined && !own.aud.includes(only)) {
    throw refused(`oidc: expected audience ${goQuote(only)} got ${goList(own.aud)}`);
  }
  if (own.exp === undefined || own.exp * 1000 < nowMs) {
    throw refused(`oidc: token is expired (Token Expiry: ${goTime(own.exp)})`);
  }
  if (own.nbf !== undefined && nowMs + NOT_BEFORE_LEEWAY_MS < own.nbf * 1000) {
    throw refused(`oidc: current time ${goTime(nowMs / 1000)} before the nbf (not before) time: ${goTime(own.nbf)}`);
  }
}

/** With several audiences kube-apiserver looks at them only once the signature is good, and in other words. */
export function checkSeveralAudiences(claims: Claims, audiences: readonly string[]): void {
  if (audiences.length <= 1) return;
  const { aud } = readRegisteredClaims(claims);
  if (aud.some((one) => audiences.includes(one))) return;
  throw refused(`oidc: expected audience in ${goList(audiences)} got ${goList(aud)}`);
}

const refused = (why: string): AuthenticationError => new AuthenticationError(why);

interface Registered {
  readonly iss: string;
  readonly aud: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number | undefined;
  readonly nbf: number | undefined;
}

function readRegisteredClaims(claims: Claims): Registered {
  for (const name of ['sub', 'nonce', 'at_hash']) text(claims, name);
  time(claims, 'iat');
  // The one time that may be null: that is as if it were not there.
  const nbf = foldedMember(claims, 'nbf') === null ? undefined : time(claims, 'nbf');
  return { iss: text(claims, 'iss'), aud: audiencesOf(claims), exp: time(claims, 'exp'), nbf };
}

const unmarshal = (value: unknown, name: string, type = 'string', struct = 'idToken'): AuthenticationError =>
  refused(
    `oidc: failed to unmarshal claims: ${cannotUnmarshal(value, `Go struct field ${struct}.${name} of type ${type}`)}`,
  );

function text(claims: Claims, name: string): string {
  const value = foldedMember(claims, name) ?? '';
  if (typeof value !== 'string') throw unmarshal(value, name);
  return value;
}

function audiencesOf(claims: Claims): readonly string[] {
  const value = foldedMember(claims, 'aud');
  if (value === undefined) return [];
  if (value === null) return [''];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw unmarshal(value, 'aud', '[]string');
  const wrong = value.find((item) => item !== null && typeof item !== 'string') as unknown;
  if (wrong !== undefined) throw unmarshal(wrong, 'aud');
  return value.map((item: string | null) => item ?? '');
}

/** A number, or the text of one. */
function time(claims: Claims, name: string): number | undefined {
  const value = foldedMember(claims, name);
  if (value === undefined) return undefined;
  if (value === null) throw refused('oidc: failed to unmarshal claims: strconv.ParseFloat: parsing "": invalid syntax');
  if (typeof value === 'number' && Number.isFinite(value)) return Math.trunc(value);
  if (typeof value !== 'string') throw unmarshal(value, name, 'json.Number');
  if (!JSON_NUMBER.test(value)) {
    const shown = goQuote(JSON.stringify(value));
    throw refused(
      `oidc: failed to unmarshal claims: json: invalid number literal, trying to unmarshal ${shown} into Number`,
    );
  }
  return Math.trunc(Number(value));
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A claim that is said to lie elsewhere must say where. */
function checkSources(claims: Claims): void {
  const names = foldedMember(claims, '_claim_names') ?? {};
  if (!isPlainObject(names)) throw unmarshal(names, '_claim_names', 'map[string]string');
  const sources = foldedMember(claims, '_claim_sources') ?? {};
  if (!isPlainObject(sources)) throw unmarshal(sources, '_claim_sources', 'map[string]oidc.claimSource');
  for (const source of Object.values(sources)) checkSource(source);
  for (const source of Object.values(names)) {
    if (typeof source !== 'string') throw unmarshal(source, '_claim_names');
    if (source === '') throw refused('oidc: failed to obtain source from claim name');
    if (!Object.hasOwn(sources, source)) throw refused('oidc: source does not exist');
  }
}

function checkSource(source: unknown): void {
  if (source === null) return;
  if (!isPlainObject(source)) throw unmarshal(source, '_claim_sources', 'oidc.claimSource');
  for (const name of ['endpoint', 'access_token']) {
    const value = foldedMember(source, name) ?? '';
    if (typeof value !== 'string') throw unmarshal(value, `_claim_sources.${name}`, 'string', 'claimSource');
  }
}

/** A time as Go formats it; the zero time when there is none. */
function goTime(seconds: number | undefined): string {
  if (seconds === undefined) return '0001-01-01 00:00:00 +0000 UTC';
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return `${seconds} seconds`;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`;
}
