// Bootstrap tokens: secrets of kube-system whose token lets a new node in until it has a certificate of its own.
//
//   kube-system/bootstrap-token-07401b   type bootstrap.kubernetes.io/token
//     token-id 07401b, token-secret f395accd246ae52d, usage-bootstrap-authentication true
//     expiration 2030-01-01T00:00:00Z, auth-extra-groups system:bootstrappers:workers
import type { Logger } from '../lib/telemetry/log.js';
import { timingSafeEqual } from 'node:crypto';
import { BOOTSTRAP_TOKEN_SECRET_TYPE } from '../machinery/names.js';
import type { KubeObject } from '../machinery/object.js';
import { parseTime } from '../machinery/time.js';
import type { TokenAuthenticator } from './authenticator.js';

export interface BootstrapTokenOptions {
  /** A secret of kube-system as it is now; undefined when there is none. */
  readonly secret: (name: string) => Promise<KubeObject | undefined>;
  readonly nowMs: () => number;
  /** Gets why a secret of the right name does not count: other authenticators may accept the token, so it is no refusal. */
  readonly log: Logger;
}

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const USER_PREFIX = 'system:bootstrap:';
const BASE_GROUP = 'system:bootstrappers';

export function createBootstrapTokenAuthenticator({ secret, nowMs, log }: BootstrapTokenOptions): TokenAuthenticator {
  return {
    async authenticateToken(token) {
      const [, id = '', secretPart = ''] = TOKEN.exec(token) ?? [];
      if (id === '') return undefined;
      const name = `bootstrap-token-${id}`;
      const found = await secret(name);
      if (found === undefined) return undefined;
      const judged = judge(found, id, secretPart, nowMs());
      if ('why' in judged) {
        log.v(3)?.info('Bootstrap token is not accepted', { secret: name, why: judged.why });
        return undefined;
      }
      return { user: { name: `${USER_PREFIX}${id}`, groups: judged.groups } };
    },
  };
}

function judge(
  secret: KubeObject,
  id: string,
  secretPart: string,
  nowMs: number,
): { readonly groups: readonly string[] } | { readonly why: string } {
  const { type, data = {} } = secret as KubeObject & { type?: string; data?: Readonly<Record<string, string>> };
  const value = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  if (secret.metadata.deletionTimestamp) return { why: 'it is being deleted' };
  if (type !== BOOTSTRAP_TOKEN_SECRET_TYPE) return { why: `its type is not ${BOOTSTRAP_TOKEN_SECRET_TYPE}` };
  if (!sameSecret(value('token-secret'), secretPart)) return { why: 'its token-secret is another' };
  if (value('token-id') !== id) return { why: 'its token-id is not that of its name' };
  const expiration = value('expiration');
  if (expiration !== '' && !isAfter(expiration, nowMs)) return { why: 'it has expired, or its expiration is no time' };
  if (value('usage-bootstrap-authentication') !== 'true') return { why: 'it is not meant for authentication' };
  const groups = groupsOf(value('auth-extra-groups'));
  return groups === undefined ? { why: 'its auth-extra-groups are not of bootstrappers' } : { groups };
}

function sameSecret(held: string, presented: string): boolean {
  const [a, b] = [Buffer.from(held), Buffer.from(presented)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function isAfter(expiration: string, nowMs: number): boolean {
  try {
    const { seconds, nanos } = parseTime(expiration);
    return seconds * 1000 + nanos / 1e6 > nowMs;
  } catch {
    return false;
  }
}

const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

function groupsOf(extra: string): string[] | undefined {
  const groups = extra === '' ? [] : extra.split(',');
  if (!groups.every((group) => EXTRA_GROUP.test(group))) return undefined;
  return [...new Set([BASE_GROUP, ...groups])].toSorted();
}
