// What stands in a service-account token.
//
//   { "aud": ["https://kubernetes.default.svc"], "exp": …, "iat": …, "iss": "https://kubernetes.default.svc",
//     "jti": "…", "kubernetes.io": { "namespace": "default", "node": {…}, "pod": { "name": "p", "uid": "…" },
//     "serviceaccount": { "name": "robot", "uid": "…" }, "warnafter": … }, "nbf": …,
//     "sub": "system:serviceaccount:default:robot" }
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { AuthenticationError } from '../authenticator.js';
import type { ObjectRef } from './identity.js';

export interface PublicClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly exp?: number;
  readonly nbf?: number;
  readonly iat?: number;
}

export interface BoundClaims {
  readonly namespace: string;
  readonly serviceaccount: ObjectRef;
  readonly pod?: ObjectRef;
  readonly secret?: ObjectRef;
  readonly node?: ObjectRef;
  readonly warnafter?: number;
}

export interface LegacyClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceAccountName: string;
  readonly serviceAccountUid: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads the claims all tokens have. A claim of the wrong type refuses the token. */
export function readPublicClaims(payload: Json): PublicClaims {
  const aud = payload['aud'];
  return {
    iss: text(payload, 'iss'),
    sub: text(payload, 'sub'),
    jti: text(payload, 'jti'),
    aud: typeof aud === 'string' ? [aud] : texts(aud),
    ...date(payload, 'exp'),
    ...date(payload, 'nbf'),
    ...date(payload, 'iat'),
  };
}

export function readBoundClaims(payload: Json): BoundClaims {
  const claims = member(payload, 'kubernetes.io', 'serviceaccount.kubernetes');
  const warnAfter = date(claims, 'warnafter')['warnafter'];
  return {
    namespace: text(claims, 'namespace'),
    serviceaccount: reference(claims, 'serviceaccount') ?? {},
    ...refMember(claims, 'pod'),
    ...refMember(claims, 'secret'),
    ...refMember(claims, 'node'),
    ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
  };
}

const LEGACY_PREFIX = 'kubernetes.io/serviceaccount/';

export const readLegacyClaims = (payload: Json): LegacyClaims => ({
  namespace: text(payload, `${LEGACY_PREFIX}namespace`),
  secretName: text(payload, `${LEGACY_PREFIX}secret.name`),
  serviceAccountName: text(payload, `${LEGACY_PREFIX}service-account.name`),
  serviceAccountUid: text(payload, `${LEGACY_PREFIX}service-account.uid`),
});

/** Claims are written in the order of their names. */
export const writeClaims = (publicClaims: PublicClaims, bound: BoundClaims): string =>
  JSON.stringify(sorted({ ...publicClaims, jti: publicClaims.jti || undefined, 'kubernetes.io': bound }));

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, claim]) => claim !== undefined);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, claim]) => [key, sorted(claim)]),
  );
}

const wrongType = (value: unknown, type: string): AuthenticationError =>
  new AuthenticationError(cannotUnmarshal(value, `Go value of type ${type}`));
const notANumber = (): AuthenticationError =>
  new AuthenticationError('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate');
const noAudience = (): AuthenticationError =>
  new AuthenticationError('go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience');

function text(claims: Json, name: string): string {
  const value = claims[name];
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw wrongType(value, 'string');
  return value;
}

function texts(value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((item): item is string => typeof item === 'string')) throw noAudience();
  return value;
}

function date(claims: Json, name: string): Record<string, number> {
  const value = claims[name];
  if (value === undefined || value === null) return {};
  if (typeof value !== 'number' || !Number.isFinite(value)) throw notANumber();
  return { [name]: inRange(value) };
}

/** Seconds from the year 1 to 1970, which is where kube-apiserver counts from. */
const TO_1970 = 62_135_596_800n;
const TOO_LARGE = 2 ** 63;

/** A time that no 64-bit count of seconds has is long past, as it is for kube-apiserver: it never makes a token last. */
function inRange(seconds: number): number {
  const whole = Math.abs(seconds) < TOO_LARGE ? BigInt(Math.trunc(seconds)) : BigInt(-TOO_LARGE);
  return Number(BigInt.asIntN(64, whole + TO_1970) - TO_1970);
}

function member(claims: Json, name: string, type: string): Json {
  const value = claims[name] ?? {};
  if (!isPlainObject(value)) throw wrongType(value, type);
  return value;
}

function reference(claims: Json, name: string): ObjectRef | undefined {
  if (claims[name] === undefined || claims[name] === null) return undefined;
  const value = member(claims, name, 'serviceaccount.ref');
  return { name: text(value, 'name'), uid: text(value, 'uid') };
}

function refMember(claims: Json, name: string): Record<string, ObjectRef> {
  const value = reference(claims, name);
  return value === undefined ? {} : { [name]: value };
}
