// The order in which checks are listed. Scripts and people compare these lists, so it is the one they know, and not
// that in which our parts happen to be wired.
const HOOKS_OF_THE_API: readonly string[] = [
  'start-encryption-provider-config-automatic-reload',
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'max-in-flight-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'start-kube-apiserver-coordinated-leader-election-controller',
  'local-discovery-cache-sync',
  'peer-discovery-cache-sync',
  'mixed-version-proxy-handler',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
];
const HOOKS_OF_AGGREGATION: readonly string[] = [
  'aggregator-reload-proxy-client-cert',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'built-in-resources-storage-version-updater',
  'kube-apiserver-autoregistration',
];
const LAST_HOOKS: readonly string[] = ['apiservice-openapi-controller', 'apiservice-openapiv3-controller'];

const checkOf = (hook: string): string => `poststarthook/${hook}`;

/** A hook that is ours alone. */
const OTHER_HOOK = checkOf('');

const RANKS: ReadonlyMap<string, number> = new Map(
  [
    'informer-sync',
    ...HOOKS_OF_THE_API.map(checkOf),
    OTHER_HOOK,
    ...HOOKS_OF_AGGREGATION.map(checkOf),
    'autoregister-completion',
    ...LAST_HOOKS.map(checkOf),
    'shutdown',
  ].map((name, index) => [name, index + 1]),
);

/** Of what has no place of its own, hooks come behind the API's, and others (ping, the store, KMS plugins) first. */
export function checkRank(name: string): number {
  return RANKS.get(name) ?? RANKS.get(name.startsWith(OTHER_HOOK) ? OTHER_HOOK : '') ?? 0;
}
