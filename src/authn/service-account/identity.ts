// Service accounts as users.
import type { UserInfo } from '../../machinery/user.js';
import { CREDENTIAL_ID } from '../client-certificate.js';

const USER_PREFIX = 'system:serviceaccount:';
const ALL_GROUP = 'system:serviceaccounts';

export const serviceAccountUserName = (namespace: string, name: string): string => `${USER_PREFIX}${namespace}:${name}`;

/** The other way round; undefined for everybody else's names. */
export function splitServiceAccountUserName(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(USER_PREFIX)) return undefined;
  const [namespace = '', name = '', ...rest] = user.slice(USER_PREFIX.length).split(':');
  const isName = name.length <= NAME_MAX_LENGTH && NAME.test(name);
  return rest.length > 0 || !NAMESPACE.test(namespace) || !isName ? undefined : { namespace, name };
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const NAME_MAX_LENGTH = 253;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export interface ServiceAccountIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly pod?: ObjectRef;
  readonly node?: ObjectRef;
  /** The token's `jti` claim. */
  readonly tokenId?: string;
}

export interface ObjectRef {
  readonly name?: string;
  readonly uid?: string;
}

export function serviceAccountUser(identity: ServiceAccountIdentity): UserInfo {
  const { namespace, name, uid, pod, node, tokenId } = identity;
  const extra: Record<string, string[]> = {};
  if (pod?.name && pod.uid) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (tokenId) extra[CREDENTIAL_ID] = [credentialIdOf(tokenId)];
  if (node?.name) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  return {
    name: serviceAccountUserName(namespace, name),
    groups: [ALL_GROUP, `${ALL_GROUP}:${namespace}`],
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

const credentialIdOf = (tokenId: string): string => `JTI=${tokenId}`;
