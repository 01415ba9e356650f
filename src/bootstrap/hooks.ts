// What the server brings about once it listens, by the names health checks show.
import type { Logger } from '../lib/telemetry/log.js';
import type { AuthenticationTrust } from '../authn/trust.js';
import type { FeatureGates } from '../registry/kind.js';
import { timestamp } from '../registry/registry.js';
import { ensureAuthenticationConfigMap } from './authentication-config-map.js';
import type { ServerClient } from '../registry/server-client.js';
import { errorText } from '../lib/text/error-text.js';
import { ensureFlowControl } from './flow-control/ensure.js';
import { collectIdentityLeases, renewIdentityLease } from './identity-lease.js';
import { ensureLegacyTokenTracking } from './legacy-token-tracking.js';
import { ensureSystemNamespaces } from './namespaces.js';
import { ensureSystemPriorityClasses } from './priority-classes.js';
import { bootstrapRbac } from './rbac/reconcile.js';
import { attempt, insist, repeat } from '../lib/async/repeat.js';
import { createDefaultServiceCidr } from './service-cidr.js';

export interface BootstrapHook {
  readonly name: string;
  /** Resolves when what it is for is there; work that goes on ends with `signal`. */
  run(signal: AbortSignal): Promise<void>;
}

export interface BootstrapOptions {
  readonly client: ServerClient;
  readonly features: FeatureGates;
  readonly trust: AuthenticationTrust;
  /** The ranges of --service-cluster-ip-range. */
  readonly serviceCidrs: readonly string[];
  readonly hostname: string;
  /** Of this run of the server. */
  readonly runId: string;
  /** Where other servers hand requests on to this one, if they do. */
  readonly peerAddress?: string | undefined;
  readonly now: () => Date;
  readonly log: Logger;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SERVICE_CIDR_INTERVAL_MS = 10_000;
const FLOW_CONTROL_TIMEOUT_MS = 5 * MINUTE_MS;
const IDENTITY_INTERVAL_MS = 10_000;

export function bootstrapHooks(options: BootstrapOptions): readonly BootstrapHook[] {
  const { client, features, trust, serviceCidrs, now, log } = options;
  const nowText = (): string => timestamp(now());
  const syncServiceCidr = createDefaultServiceCidr({ client, cidrs: serviceCidrs, now: nowText, log });
  // A server without these is of no use, and ends when it does not come to them.
  const surely = (task: () => Promise<void>) => (signal: AbortSignal) => insist(task, { signal, log });
  const surelyEvery = (everyMs: number, timeoutMs: number, task: () => Promise<void>) => (signal: AbortSignal) =>
    repeat(task, { everyMs, timeoutMs, signal, log });
  // Those that what it is used for may do without.
  const trying = (task: () => Promise<void>, everyMs?: number) => (signal: AbortSignal) =>
    attempt(task, { signal, log, ...(everyMs !== undefined && { everyMs }) });
  return [
    { name: 'start-system-namespaces-controller', run: trying(() => ensureSystemNamespaces(client), MINUTE_MS) },
    { name: 'rbac/bootstrap-roles', run: surely(() => bootstrapRbac({ client, features, log })) },
    {
      name: 'scheduling/bootstrap-system-priority-classes',
      run: surely(() => ensureSystemPriorityClasses(client)),
    },
    {
      name: 'priority-and-fairness-config-producer',
      run: surelyEvery(MINUTE_MS, FLOW_CONTROL_TIMEOUT_MS, () => ensureFlowControl(client)),
    },
    {
      name: 'start-cluster-authentication-info-controller',
      run: trying(() => ensureAuthenticationConfigMap(client, trust, () => now().getTime()), MINUTE_MS),
    },
    { name: 'start-legacy-token-tracking-controller', run: trying(() => ensureLegacyTokenTracking(client, now)) },
    ...(features.enabled('MultiCIDRServiceAllocator')
      ? [
          {
            name: 'start-kubernetes-service-cidr-controller',
            // Addresses of services are allocated from it: until it is there the server is not ready, however long that takes.
            run: surelyEvery(SERVICE_CIDR_INTERVAL_MS, Infinity, syncServiceCidr),
          },
        ]
      : []),
    ...(features.enabled('APIServerIdentity') ? identityHooks(options) : []),
  ];
}

/** A host's name may be no valid label: the failure is logged, and the server serves all the same. */
function identityHooks({ client, hostname, runId, peerAddress, now, log }: BootstrapOptions): BootstrapHook[] {
  const logFailure = (task: () => Promise<void>) => (): Promise<void> =>
    task().catch((error: unknown) => log.info(`leases of API servers: ${errorText(error)}`));
  const renew = logFailure(() => renewIdentityLease({ client, hostname, runId, peerAddress, now }));
  const collect = logFailure(() => collectIdentityLeases(client, now));
  return [
    {
      name: 'start-kube-apiserver-identity-lease-controller',
      run: (signal) => repeat(renew, { everyMs: IDENTITY_INTERVAL_MS, signal, log }),
    },
    {
      name: 'start-kube-apiserver-identity-lease-garbage-collector',
      run: (signal) => repeat(collect, { everyMs: HOUR_MS, signal, log }),
    },
  ];
}
