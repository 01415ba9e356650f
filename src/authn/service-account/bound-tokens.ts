// Verifies tokens of serviceaccounts/token: the account they are for, and the object they are bound to, must still be.
import { goQuote } from '../../lib/go/quote.js';
import type { KubeObject } from '../../machinery/object.js';
import { intersect } from '../audience.js';
import type { Authenticated, TokenAuthenticator } from '../authenticator.js';
import { AuthenticationError } from '../authenticator.js';
import { type BoundClaims, type PublicClaims, readBoundClaims, readPublicClaims } from './claims.js';
import { type ObjectRef, serviceAccountUser } from './identity.js';
import type { VerifyingKeys } from './keys.js';
import type { TokenUses } from './metrics.js';
import { claimedIssuer, verifiedPayload } from './signature.js';

/** The objects tokens depend on, as they are now; undefined when they are gone. */
export interface TokenObjects {
  get(
    resource: 'serviceaccounts' | 'pods' | 'secrets' | 'nodes',
    namespace: string,
    name: string,
  ): Promise<KubeObject | undefined>;
}

type TokenGate =
  | 'ServiceAccountTokenJTI'
  | 'ServiceAccountTokenNodeBindingValidation'
  | 'ServiceAccountTokenPodNodeInfo';

export interface BoundTokenOptions {
  /** All of --service-account-issuer. */
  readonly issuers: readonly string[];
  readonly keys: VerifyingKeys;
  readonly apiAudiences: readonly string[];
  readonly objects: TokenObjects;
  readonly uses: TokenUses;
  readonly features: { enabled(gate: TokenGate): boolean };
  readonly nowMs: () => number;
}

const NODE_GATE = 'ServiceAccountTokenNodeBindingValidation';
/** Clocks of servers differ. */
const LEEWAY_MS = 60_000;

export function createBoundTokenAuthenticator(options: BoundTokenOptions): TokenAuthenticator {
  const { features } = options;
  return {
    async authenticateToken(token, audiences): Promise<Authenticated | undefined> {
      const payload = await openToken(token, options.issuers, options.keys);
      if (payload === undefined) return undefined;
      const claims = readPublicClaims(payload);
      const bound = readBoundClaims(payload);
      if (claims.aud.length === 0) options.uses.legacy.inc();
      const shared = checkAudiences(claims.aud, audiences, options.apiAudiences);
      const nowMs = options.nowMs();
      checkTimes(claims, nowMs);
      const { pod, node } = await checkObjects(bound, options, nowMs);
      const { serviceaccount, namespace, warnafter } = bound;
      const stale = staleAnnotation(claims, warnafter, nowMs);
      if (warnafter) options.uses[stale.annotations === undefined ? 'valid' : 'stale'].inc();
      const user = serviceAccountUser({
        namespace,
        name: serviceaccount.name ?? '',
        uid: serviceaccount.uid ?? '',
        tokenId: features.enabled('ServiceAccountTokenJTI') ? claims.jti : '',
        ...(pod === undefined ? {} : { pod }),
        ...(node === undefined ? {} : { node }),
      });
      const annotations = { ...stale.annotations, ...legacyAnnotation(claims).annotations };
      return { user, audiences: shared, ...(Object.keys(annotations).length > 0 && { annotations }) };
    },
  };
}

/** Undefined: not a token of these issuers. */
export async function openToken(
  token: string,
  issuers: readonly string[],
  keys: VerifyingKeys,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const issuer = claimedIssuer(token);
  if (issuer === undefined || !issuers.includes(issuer)) return undefined;
  const payload = await verifiedPayload(token, keys);
  if (payload === undefined) return undefined;
  const verified = readPublicClaims(payload).iss;
  if (!issuers.includes(verified)) throw new AuthenticationError(`token issuer ${goQuote(verified)} is invalid`);
  return payload;
}

/** The audiences both sides know. A token without any is for the server itself. */
export function checkAudiences(
  inToken: readonly string[],
  requested: readonly string[],
  apiAudiences: readonly string[],
): string[] {
  const own = inToken.length === 0 ? apiAudiences : inToken;
  const wanted = requested.length === 0 ? apiAudiences : requested;
  const shared = intersect(own, wanted);
  if (shared.length === 0 && apiAudiences.length > 0) {
    const list = (values: readonly string[]) => `[${values.map(goQuote).join(' ')}]`;
    throw new AuthenticationError(`token audiences ${list(own)} is invalid for the target audiences ${list(wanted)}`);
  }
  return shared;
}

function checkTimes({ exp, nbf, iat }: PublicClaims, nowMs: number): void {
  if (nbf !== undefined && nowMs + LEEWAY_MS < nbf * 1000) {
    throw new AuthenticationError('service account token is not valid yet');
  }
  if (exp !== undefined && nowMs - LEEWAY_MS > exp * 1000) {
    throw new AuthenticationError('service account token has expired');
  }
  if (iat !== undefined && nowMs + LEEWAY_MS < iat * 1000) {
    throw new AuthenticationError('service account token is issued in the future');
  }
}

const INVALIDATED = 'service account token has been invalidated';

async function checkObjects(
  { namespace, serviceaccount, secret, pod, node }: BoundClaims,
  { objects, features }: BoundTokenOptions,
  nowMs: number,
): Promise<{ pod?: ObjectRef; node?: ObjectRef }> {
  const name = serviceaccount.name ?? '';
  if (name === '') throw new AuthenticationError('resource name may not be empty');
  if (namespace === '') throw new AuthenticationError('the server could not find the requested resource');
  const account = await objects.get('serviceaccounts', namespace, name);
  if (account === undefined) throw new AuthenticationError(`serviceaccounts ${goQuote(name)} not found`);
  const uid = account.metadata.uid ?? '';
  if (uid !== (serviceaccount.uid ?? '')) {
    throw new AuthenticationError(`service account UID (${uid}) does not match claim (${serviceaccount.uid ?? ''})`);
  }
  if (deletedLongAgo(account, nowMs)) {
    throw new AuthenticationError(`service account ${namespace}/${name} has been deleted`);
  }
  if (secret !== undefined)
    await checkBound('secret', secret, objects.get('secrets', namespace, secret.name ?? ''), nowMs);
  if (pod !== undefined) {
    await checkBound('pod', pod, objects.get('pods', namespace, pod.name ?? ''), nowMs);
    // The node of a pod is passed on, not checked: the pod itself is what the token hangs on.
    const includesNode = node !== undefined && features.enabled('ServiceAccountTokenPodNodeInfo');
    return { pod, ...(includesNode && { node }) };
  }
  if (node === undefined) return {};
  if (!features.enabled(NODE_GATE)) {
    throw new AuthenticationError(`token is bound to a Node object but the ${NODE_GATE} feature gate is disabled`);
  }
  await checkBound('node', node, objects.get('nodes', '', node.name ?? ''), nowMs);
  return { node };
}

async function checkBound(
  what: 'secret' | 'pod' | 'node',
  claim: ObjectRef,
  lookup: Promise<KubeObject | undefined>,
  nowMs: number,
): Promise<void> {
  const object = await lookup;
  if (object === undefined) throw new AuthenticationError(INVALIDATED);
  const uid = object.metadata.uid ?? '';
  if (uid !== (claim.uid ?? '')) {
    throw new AuthenticationError(
      `${what} UID (${uid}) does not match service account ${what} ref claim (${claim.uid ?? ''})`,
    );
  }
  if (deletedLongAgo(object, nowMs)) throw new AuthenticationError(INVALIDATED);
}

function deletedLongAgo({ metadata }: KubeObject, nowMs: number): boolean {
  return !!metadata.deletionTimestamp && Date.parse(metadata.deletionTimestamp) < nowMs - LEEWAY_MS;
}

/** Tokens with an extended lifetime say so once they are past the requested one. */
function staleAnnotation(
  { sub }: PublicClaims,
  warnAfter: number | undefined,
  nowMs: number,
): Pick<Authenticated, 'annotations'> {
  if (!warnAfter || nowMs <= warnAfter * 1000) return {};
  const seconds = Math.floor(nowMs / 1000) - warnAfter;
  const text = `subject: ${sub}, seconds after warning threshold: ${seconds}`;
  return { annotations: { 'authentication.k8s.io/stale-token': text } };
}

const legacyAnnotation = ({ aud, sub }: PublicClaims): Pick<Authenticated, 'annotations'> =>
  aud.length > 0 ? {} : { annotations: { 'authentication.k8s.io/legacy-token': sub } };
