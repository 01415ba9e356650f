// The other servers of the control plane, which may be of other releases: a request for what only they serve is handed
// on to one of them.
import { prefixed } from '../../lib/telemetry/prefixed.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import { firstHeader, type HttpResponse } from '../../lib/http/http.js';
import { every } from '../../lib/async/repeat.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import type { RequestInfo } from '../../machinery/request-info.js';
import { serviceUnavailable } from '../../machinery/status.js';
import type { HttpClient } from '../../outbound/http-client.js';
import type { Lease } from '../../schema/generated/coordination.v1.js';
import { startInformer } from '../../storage/informer.js';
import type { ResourceStore, StoredObject } from '../../storage/store.js';
import { handOn, type ProxiedRequest } from '../proxy.js';
import { fetchPeerDiscovery, resourceKey } from './peer-discovery.js';
import { PEER_PROXIED } from './peer-proxied.js';

export interface PeersOptions {
  /** This server's own name among them: that of its identity lease. */
  readonly serverId: string;
  /** Each server has a lease; a server that started anew holds it under another name. */
  readonly leases: ResourceStore;
  /** Whether a lease is one of those. */
  readonly isServer: (lease: StoredObject) => boolean;
  /** Where a server wants to be reached, as host and port; undefined when it does not say. */
  readonly locate: (serverId: string) => Promise<string | undefined>;
  readonly client: HttpClient;
  readonly servesItself: (info: RequestInfo) => boolean;
  /** Observes the status of every answer of another server. */
  readonly observe: (status: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

const ALL = 'all';
const ASK_AGAIN_MS = 5 * 60_000;

export class Peers {
  /** What each of the others serves. */
  #served: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #synced = false;

  constructor(private readonly options: PeersOptions) {}

  /** Resolves once the others are known by name; their discovery is fetched from then on. */
  async follow(signal: AbortSignal): Promise<void> {
    const { leases, clock, log } = this.options;
    const queue = new WorkQueue({
      name: 'discovery of other servers',
      work: () => this.#discover([...informer.objects.values()]),
      concurrency: 1,
      clock,
      signal,
      log,
    });
    const informer = startInformer({
      store: leases,
      signal,
      log: prefixed(log, 'leases of servers'),
      onUpsert: (lease, before) => {
        if (this.#isOther(lease) && (before === undefined || holderOf(before) !== holderOf(lease))) queue.add(ALL);
      },
      onDelete: (lease) => {
        if (this.#isOther(lease)) queue.add(ALL);
      },
    });
    await informer.synced;
    this.#synced = true;
    // A server that was replaced by one of another release may hold its lease under the same name.
    every(async () => queue.add(ALL), { everyMs: ASK_AGAIN_MS, signal, log });
  }

  /** Undefined: this server answers itself, if only that there is no such thing. */
  // hot: every request
  proxy(proxied: ProxiedRequest): Promise<HttpResponse> | undefined {
    const { request, info } = proxied;
    if (!info.isResourceRequest || !this.#synced || this.options.servesItself(info)) return undefined;
    if (firstHeader(request, PEER_PROXIED) === 'true') return undefined;
    const key = resourceKey(info.apiGroup, info.apiVersion, info.resource);
    const able = [...this.#served].filter(([, served]) => served.has(key)).map(([id]) => id);
    return able.length === 0 ? undefined : this.#handOn(proxied, able);
  }

  async #handOn(proxied: ProxiedRequest, able: readonly string[]): Promise<HttpResponse> {
    const { client, random, observe } = this.options;
    const hosts = (await Promise.all(able.map((id) => this.#locate(id)))).filter((host) => host !== undefined);
    const host = hosts[Math.floor(random() * hosts.length)];
    if (host === undefined) {
      throw serviceUnavailable('Error getting ip and port info of the remote server while proxying');
    }
    const server = { client, origin: new URL(`https://${host}`), host };
    const answer = await handOn(proxied, server, { rejectRedirects: false, headers: { [PEER_PROXIED]: 'true' } });
    observe(answer.status);
    return answer;
  }

  async #locate(id: string): Promise<string | undefined> {
    try {
      return await this.options.locate(id);
    } catch (error) {
      this.options.log.info(`address of server ${id}: ${String(error)}`);
      return undefined;
    }
  }

  async #discover(leases: readonly StoredObject[]): Promise<'done' | 'again'> {
    const { client, observe, log } = this.options;
    const served = new Map<string, ReadonlySet<string>>();
    let outcome: 'done' | 'again' = 'done';
    const ask = async (id: string): Promise<void> => {
      try {
        const host = await this.options.locate(id);
        if (host === undefined) throw new Error('it does not say where it is reached');
        served.set(id, await fetchPeerDiscovery(client, host, observe));
      } catch (error) {
        log.info(`discovery of server ${id}: ${error instanceof Error ? error.message : String(error)}`);
        outcome = 'again';
      }
    };
    await Promise.all(leases.filter((lease) => this.#isOther(lease)).map((lease) => ask(nameOf(lease))));
    this.#served = served;
    return outcome;
  }

  #isOther(lease: StoredObject): boolean {
    return this.options.isServer(lease) && nameOf(lease) !== this.options.serverId && holderOf(lease) !== undefined;
  }
}

const nameOf = ({ key }: StoredObject): string => key.slice(key.indexOf('/') + 1);
const holderOf = (lease: StoredObject): string | undefined => (lease.object() as Lease).spec.holderIdentity;
