// Binnacle's values for the neutral words of its specification, here and nowhere else.

/** The domain that ends the platform's API group names. */
const GROUP_DOMAIN = 'k8s.io';
/** The platform's name in media types, flags, folders and object names. */
export const PLATFORM = 'kubernetes';

export const PROTOBUF_MEDIA_TYPE = `application/vnd.${PLATFORM}.protobuf`;
export const BOOTSTRAP_TOKEN_SECRET_TYPE = `bootstrap.${PLATFORM}.io/token`;
export const AUDIT_GROUP_VERSION = `audit.${GROUP_DOMAIN}/v1`;
export const DEFAULT_SERVICE_ACCOUNT_ISSUER = `https://${PLATFORM}.default.svc.cluster.local`;

/** The key-value store's neutral word and the word the platform's own tools use. Both are accepted everywhere. */
export const STORE_WORDS = { neutral: 'kvstore', platform: 'etcd' } as const;
/** Both words for the kubelet. */
export const KUBELET_WORDS = { neutral: 'nodeagent', platform: 'kubelet' } as const;

/** `kvstore`, `kvstore3`, `kvstore-servers` … in the platform's words; any other text as it is. */
export function platformWord(text: string): string {
  for (const { neutral, platform } of [STORE_WORDS, KUBELET_WORDS]) {
    if (text.startsWith(neutral)) return platform + text.slice(neutral.length);
  }
  return text;
}

/** The release whose API and behaviour this server has. */
export const RELEASE = { major: 1, minor: 34, patch: 11 } as const;
export const GIT_VERSION = `v${RELEASE.major}.${RELEASE.minor}.${RELEASE.patch}`;
/** The name the platform's tools know this server by. */
export const PROGRAM = 'kube-apiserver';
