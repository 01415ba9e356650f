// Verifies the old, endless tokens that lie in secrets.
import { timingSafeEqual } from 'node:crypto';
import { goQuote } from '../../lib/go/quote.js';
import type { KubeObject } from '../../machinery/object.js';
import type { Authenticated, TokenAuthenticator } from '../authenticator.js';
import { AuthenticationError } from '../authenticator.js';
import { type TokenObjects, checkAudiences, openToken } from './bound-tokens.js';
import { type LegacyClaims, readLegacyClaims, readPublicClaims } from './claims.js';
import { serviceAccountUser, splitServiceAccountUserName } from './identity.js';
import type { VerifyingKeys } from './keys.js';
import type { TokenUses } from './metrics.js';

export interface LegacyTokenOptions {
  readonly keys: VerifyingKeys;
  readonly apiAudiences: readonly string[];
  readonly objects: TokenObjects;
  /** --service-account-lookup. */
  readonly lookup: boolean;
  readonly uses: TokenUses;
  readonly now: () => Date;
  /** Labels the secret of a used token with the day, so that unused ones can be cleaned up. Never rejects. */
  readonly markUsed: (secret: Readonly<KubeObject>, day: string) => Promise<void>;
}

const LEGACY_ISSUER = 'kubernetes/serviceaccount';
export const LAST_USED_LABEL = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';

export function createLegacyTokenAuthenticator(options: LegacyTokenOptions): TokenAuthenticator {
  return {
    async authenticateToken(token, audiences): Promise<Authenticated | undefined> {
      const payload = await openToken(token, [LEGACY_ISSUER], options.keys);
      if (payload === undefined) return undefined;
      const { aud, sub } = readPublicClaims(payload);
      const claims = readLegacyClaims(payload);
      if (aud.length === 0) options.uses.legacy.inc();
      const shared = checkAudiences(aud, audiences, options.apiAudiences);
      checkClaims(claims, sub);
      const { namespace, serviceAccountName: name, serviceAccountUid: uid } = claims;
      const found = options.lookup ? await checkObjects(token, claims, options) : {};
      const annotations = {
        ...(aud.length === 0 ? { 'authentication.k8s.io/legacy-token': sub } : {}),
        ...found.annotations,
      };
      return { ...found, user: serviceAccountUser({ namespace, name, uid }), audiences: shared, annotations };
    },
  };
}

function checkClaims(claims: LegacyClaims, subject: string): void {
  const missing = (name: string) => new AuthenticationError(`${name} claim is missing`);
  if (subject === '') throw missing('sub');
  if (claims.namespace === '') throw missing('namespace');
  if (claims.secretName === '') throw missing('secretName');
  if (claims.serviceAccountName === '') throw missing('serviceAccountName');
  if (claims.serviceAccountUid === '') throw missing('serviceAccountUID');
  const split = splitServiceAccountUserName(subject);
  if (split?.namespace !== claims.namespace || split.name !== claims.serviceAccountName) {
    throw new AuthenticationError('sub claim is invalid');
  }
}

const USE_TOKEN_REQUESTS =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.';

async function checkObjects(
  token: string,
  { namespace, secretName, serviceAccountName, serviceAccountUid }: LegacyClaims,
  options: LegacyTokenOptions,
): Promise<Pick<Authenticated, 'warnings' | 'annotations'>> {
  const secret = await options.objects.get('secrets', namespace, secretName);
  if (secret === undefined || secret.metadata.deletionTimestamp) {
    throw new AuthenticationError('Token has been invalidated');
  }
  if (!holdsToken(secret, token)) throw new AuthenticationError("Token does not match server's copy");
  const account = await options.objects.get('serviceaccounts', namespace, serviceAccountName);
  if (account === undefined) throw new AuthenticationError(`serviceaccounts ${goQuote(serviceAccountName)} not found`);
  const where = `${namespace}/${serviceAccountName}`;
  if (account.metadata.deletionTimestamp) throw new AuthenticationError(`ServiceAccount ${where} has been deleted`);
  const uid = account.metadata.uid ?? '';
  if (uid !== serviceAccountUid) {
    throw new AuthenticationError(`ServiceAccount UID (${uid}) does not match claim (${serviceAccountUid})`);
  }
  await markUsed(secret, options);
  if (secret.metadata.labels?.[INVALID_SINCE_LABEL]) {
    options.uses.invalidated.inc();
    throw new AuthenticationError(
      `the token in secret ${namespace}/${secretName} for service account ${where} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE_LABEL}' label from the secret to temporarily allow use of this token`,
    );
  }
  const { secrets = [] } = account as KubeObject & { secrets?: { name?: string }[] };
  if (secrets.some((reference) => reference.name === secretName)) {
    options.uses.auto.inc();
    const annotations = { 'authentication.k8s.io/legacy-token-autogenerated-secret': secretName };
    return { warnings: [USE_TOKEN_REQUESTS], annotations };
  }
  options.uses.manual.inc();
  return { annotations: { 'authentication.k8s.io/legacy-token-manual-secret': secretName } };
}

function holdsToken(secret: KubeObject, token: string): boolean {
  const { data = {} } = secret as KubeObject & { data?: Record<string, string> };
  const held = Buffer.from(data['token'] ?? '', 'base64');
  const presented = Buffer.from(token);
  return held.length === presented.length && timingSafeEqual(held, presented);
}

const DAY_MS = 24 * 60 * 60 * 1000;
const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** Once a day is enough; another server's clock may be a day ahead. Whoever has the answer finds the label. */
async function markUsed(secret: KubeObject, { now, markUsed: mark }: LegacyTokenOptions): Promise<void> {
  const today = dayOf(now());
  const lastUsed = secret.metadata.labels?.[LAST_USED_LABEL];
  if (lastUsed !== today && lastUsed !== dayOf(new Date(now().getTime() + DAY_MS))) await mark(secret, today);
}
