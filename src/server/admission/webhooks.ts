// Admission webhooks: whom they are followed from, and how they are reached.
import crypto from 'node:crypto';
import type { ConditionMetrics } from '../../admission/condition-metrics.js';
import type { HookPluginParts } from '../../admission/plugins/admission-webhooks.js';
import type { ServedResources } from '../../admission/matching/seen-request.js';
import { startHookInformers } from '../../admission/webhooks/hook-informers.js';
import { HookClients, type HookClientParts } from '../../admission/webhooks/hook-clients.js';
import { hookMetrics } from '../../admission/webhooks/metrics.js';
import type { HookParts } from '../../admission/webhooks/validate.js';
import type { Authorizer } from '../../authz/authorizer.js';
import type { PolicyCompiler } from '../../cel/compiled-policy.js';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { certificateNotes } from '../../machinery/certificate-notes.js';
import type { Lookup } from '../../registry/kind.js';
import { dialService, resolveByClusterIp, resolveByEndpoints } from '../../registry/service-address.js';
import type { ResourceStore } from '../../storage/store.js';
import type { Dialers } from '../outgoing/dialers.js';
import { restClientMetrics } from '../metrics/rest-client-metrics.js';

export interface WebhookWiring {
  readonly configurations: (resource: string) => ResourceStore;
  readonly served: ServedResources;
  readonly lookup: Lookup;
  readonly authorizer: Authorizer;
  readonly compiler: PolicyCompiler;
  readonly dialers: Dialers;
  readonly itself: HookClientParts['itself'];
  /** Services are reached by their endpoints (--enable-aggregator-routing). */
  readonly byEndpoints: boolean;
  readonly identities: Readonly<Record<HookKind, HookClientParts['identityFor']>>;
  readonly metrics: MetricRegistry;
  readonly conditionMetrics: ConditionMetrics;
  readonly stopping: AbortSignal;
  readonly log: Logger;
  readonly wait: (ms: number) => Promise<void>;
  readonly workers: WorkerPool;
}

export type HookKind = 'mutating' | 'validating';

export function buildWebhooks(wiring: WebhookWiring): Readonly<Record<HookKind, HookPluginParts>> {
  const recorder = hookMetrics(wiring.metrics);
  const certificates = certificateNotes(wiring.metrics, 'webhooks');
  const { lookup, dialers, stopping, wait } = wiring;
  const resolve = wiring.byEndpoints ? resolveByEndpoints(lookup, Math.random) : resolveByClusterIp(lookup);
  const build = (kind: HookKind): HookPluginParts => {
    let made: HookParts | undefined;
    const create = (): HookParts => {
      const clients = new HookClients({
        identityFor: wiring.identities[kind],
        dialer: dialers.controlplane,
        itself: wiring.itself,
        serviceDialer: (target) => dialService(resolve, target, dialers.cluster),
      });
      stopping.addEventListener('abort', () => clients.close(), { once: true });
      return {
        served: wiring.served,
        authorizer: wiring.authorizer,
        conditionMetrics: wiring.conditionMetrics,
        recorder,
        clients,
        certificates,
        newUid: () => crypto.randomUUID(),
        nowMs: () => Date.now(),
        wait,
        workers: wiring.workers,
        observe: restClientMetrics(wiring.metrics),
        log: wiring.log,
      };
    };
    return {
      source: startHookInformers({
        configurations: wiring.configurations(`${kind}webhookconfigurations`),
        compiler: wiring.compiler,
        signal: stopping,
        log: wiring.log,
        wait,
      }),
      parts: () => (made ??= create()),
    };
  };
  return { mutating: build('mutating'), validating: build('validating') };
}
