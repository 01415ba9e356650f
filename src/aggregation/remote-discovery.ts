// What extension servers have, as discovery shows it beside what this server has itself.
import type { Clock } from '../lib/async/clock.js';
import type { RegisteredGroup, RegisteredVersions } from '../rest/discovery/registered-versions.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { API_SERVICES, type ApiServices } from './api-services.js';
import { type DiscoveryDocument, fetchDiscovery } from './fetch-discovery.js';
import type { RemoteServers } from './remote-servers.js';

/** How often the discovery of a server is fetched anew. */
const REFRESH_MS = 60_000;

interface Known {
  readonly resources: readonly object[];
  readonly atMs: number;
  /** Of the registration as it was. */
  readonly resourceVersion: string | undefined;
}

export class RemoteDiscovery implements RegisteredVersions {
  readonly #services: ApiServices;
  readonly #servers: RemoteServers;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  /** By service: one server may have many of the versions, and says when it has nothing new. */
  readonly #documents = new Map<string, DiscoveryDocument>();
  /** How often what is known was another. */
  #changes = 0;

  constructor(services: ApiServices, servers: RemoteServers, clock: Clock) {
    this.#services = services;
    this.#servers = servers;
    this.#clock = clock;
  }

  /** Runs after a check: fetches the discovery of an available server, and drops that of an unavailable one. */
  async refresh(service: Readonly<APIService>, available: boolean): Promise<void> {
    const name = service.metadata.name ?? '';
    const { resourceVersion } = service.metadata;
    const nowMs = this.#clock.now();
    const known = this.#known.get(name);
    const isFresh = known?.resourceVersion === resourceVersion && nowMs - (known?.atMs ?? -Infinity) < REFRESH_MS;
    if (available && isFresh) return;
    const key = serviceKey(service);
    try {
      if (!available) throw new Error('it is not available');
      const { resources, document } = await fetchDiscovery(service, this.#servers, this.#documents.get(key));
      if (document !== undefined) this.#documents.set(key, document);
      this.#known.set(name, { resources, atMs: nowMs, resourceVersion });
      this.#changes++;
    } catch {
      this.#unlearn(name);
    }
  }

  /** It is registered no more. */
  forget(name: string): void {
    this.#unlearn(name);
    const used = new Set<string>();
    for (const other of this.#services.remoteNames()) {
      const service = other === name ? undefined : this.#services.get(other);
      if (service !== undefined) used.add(serviceKey(service));
    }
    for (const key of this.#documents.keys()) if (!used.has(key)) this.#documents.delete(key);
  }

  #unlearn(name: string): void {
    if (this.#known.delete(name)) this.#changes++;
  }

  get generation(): number {
    return this.#services.generation + this.#changes;
  }

  *remote(): Iterable<{ readonly group: string; readonly version: string }> {
    for (const name of this.#services.remoteNames()) {
      const { group = '', version = '' } = this.#services.get(name)?.spec ?? {};
      if (group !== '' && version !== '') yield { group, version };
    }
  }

  resources(group: string, version: string): readonly object[] | undefined {
    return this.#known.get(`${version}.${group}`)?.resources;
  }

  groups(): ReadonlyMap<string, RegisteredGroup> | undefined {
    return this.#services.groups();
  }

  isListed(group: string): boolean {
    // Where registrations are made is itself not registered.
    return group === API_SERVICES.group || this.#services.hasGroup(group);
  }

  groupRank(group: string): number | undefined {
    let highest: number | undefined;
    for (const name of this.#services.remoteNames()) {
      const spec = this.#services.get(name)?.spec;
      if (spec?.group === group) highest = Math.max(highest ?? 0, spec.groupPriorityMinimum);
    }
    return highest;
  }

  versionRank(group: string, version: string): number {
    return this.#services.get(`${version}.${group}`)?.spec.versionPriority ?? 0;
  }
}

const serviceKey = ({ spec: { service } }: Readonly<APIService>): string =>
  `${service?.namespace ?? ''}/${service?.name ?? ''}`;
