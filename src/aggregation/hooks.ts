// What looks after API services, under the names health checks know.
import type { Logger } from '../lib/telemetry/log.js';
import type { Clock } from '../lib/async/clock.js';
import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { GroupResource } from '../machinery/status.js';
import type { Lookup } from '../registry/kind.js';
import type { ResourceStore } from '../storage/store.js';
import { type ApiServices, type ApiServiceWriter, isAvailable } from './api-services.js';
import { checkDiscovery } from './discovery-check.js';
import { keepOpenApi } from './keep-openapi.js';
import type { RemoteDiscovery } from './remote-discovery.js';
import type { RemoteOpenApi } from './remote-openapi.js';
import type { RemoteServers } from './remote-servers.js';
import { createAvailabilityMetrics } from './availability-metrics.js';
import { keepLocalAvailable, keepRemoteAvailability } from './availability.js';
import { keepRegistered } from './registration.js';
import { builtInService, type GroupVersion, nameOf } from './wanted-services.js';

export interface AggregationOptions {
  readonly client: ApiServiceWriter;
  readonly lookup: Lookup;
  readonly storeOf: (resource: GroupResource) => ResourceStore;
  /** The group versions this server serves itself, without those of custom resources; one may come often. */
  readonly builtIn: Iterable<GroupVersion>;
  readonly metrics: MetricRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** The API services, which others read, too. */
  readonly services: ApiServices;
  /** How extension servers are reached. */
  readonly servers: RemoteServers;
  readonly remote: RemoteDiscovery;
  readonly openApi: RemoteOpenApi;
}

export interface AggregationHook {
  readonly name: string;
  run(signal: AbortSignal): Promise<void> | void;
}

export interface Aggregation {
  readonly hooks: readonly AggregationHook[];
  /** Those that only write what all processes of a server read: they run in one of them. */
  readonly writers: readonly AggregationHook[];
  /** Undefined once every API service of the server's own has been seen available. */
  completion(): string | undefined;
}

const DEFINITIONS: GroupResource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

export function createAggregation(options: AggregationOptions): Aggregation {
  const { client, lookup, storeOf, clock, log, services, servers, remote, openApi } = options;
  const versions = new Map(Array.from(options.builtIn, (one) => [nameOf(one), one]));
  const builtIn = [...versions.values()].flatMap((one) => builtInService(one) ?? []);
  const missing = new Set(builtIn.map(({ metadata }) => metadata.name ?? ''));
  services.subscribe((name) => {
    const service = missing.has(name) ? services.get(name) : undefined;
    if (service !== undefined && isAvailable(service)) missing.delete(name);
  });
  const metrics = createAvailabilityMetrics(options.metrics);
  const parts = (signal: AbortSignal) => ({ services, client, metrics, clock, signal, log });
  let known: Promise<void> | undefined;
  return {
    hooks: [
      { name: 'start-kube-aggregator-informers', run: (signal) => (known = services.follow(signal)) },
      // Requests are handed on by what is followed: once it is known, everybody registered is reached.
      { name: 'apiservice-registration-controller', run: () => known },
      {
        name: 'apiservice-status-remote-available-controller',
        run: (signal) =>
          keepRemoteAvailability({
            ...parts(signal),
            lookup,
            storeOf,
            check: (service) => checkDiscovery(service, servers),
            // A server is used only once its condition says that it is available.
            judged: (service, { status }) => remote.refresh(service, status === 'True' && isAvailable(service)),
            forget: (name) => {
              servers.forget(name);
              remote.forget(name);
            },
          }),
      },
      // The availability check fetches discovery, too, whenever it finds a server available.
      { name: 'apiservice-discovery-controller', run: () => known },
      {
        name: 'apiservice-openapi-controller',
        run: (signal) => keepOpenApi({ services, documents: openApi, clock, signal, log }),
      },
      // The one before looks after both forms.
      { name: 'apiservice-openapiv3-controller', run: () => undefined },
    ],
    writers: [
      {
        name: 'apiservice-status-local-available-controller',
        run: (signal) => keepLocalAvailable(parts(signal)),
      },
      {
        name: 'kube-apiserver-autoregistration',
        run: (signal) => keepRegistered({ ...parts(signal), builtIn, crds: storeOf(DEFINITIONS) }),
      },
    ],
    completion: () => (missing.size === 0 ? undefined : `missing APIService: [${[...missing].sort().join(' ')}]`),
  };
}
