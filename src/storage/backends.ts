// Which key-value store each resource lies in: the embedded one, one etcd, or several.
import { type Clock } from '../lib/clock.js';
import type { GroupResource } from '../machinery/status.js';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import { openEtcdStore } from '../kv/etcd/etcd.js';
import type { KeyValueStore } from '../kv/kv.js';

export interface BackendOptions {
  /** etcd's servers; none for the embedded store. */
  readonly servers: readonly string[];
  /** `group/resource#server;server`, as the flag is written. */
  readonly overrides: readonly string[];
  /** Of all keys: `/registry`. */
  readonly prefix: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly compactionIntervalMs: number;
  readonly leaseReuseSeconds: number;
  /** Where the embedded store keeps its data. */
  readonly dataFolder: string;
  readonly clock?: Clock;
  readonly log?: (message: string) => void;
}

export interface Backends {
  kvFor(resource: GroupResource): KeyValueStore;
  /** Every store once, with a name for health checks and metrics: `etcd-0`, `etcd-1`, … */
  readonly all: readonly { readonly name: string; readonly kv: KeyValueStore }[];
  close(): Promise<void>;
}

export async function openBackends(options: BackendOptions): Promise<Backends> {
  const all: { name: string; kv: KeyValueStore }[] = [];
  const byServers = new Map<string, KeyValueStore>();
  const open = (servers: readonly string[]): KeyValueStore => {
    // The same servers, in whichever order, are one store and share its connections and its compaction.
    const identity = [...servers].sort().join(',');
    const known = byServers.get(identity);
    if (known !== undefined) return known;
    const kv = openEtcdStore({ ...options, servers });
    byServers.set(identity, kv);
    all.push({ name: `etcd-${all.length}`, kv });
    return kv;
  };
  let usual: KeyValueStore;
  if (options.servers.length > 0) usual = open(options.servers);
  else {
    usual = await openEmbeddedStore({
      folder: options.dataFolder,
      clock: options.clock,
      historyMs: options.compactionIntervalMs,
    });
    all.push({ name: 'etcd-0', kv: usual });
  }
  const overridden = new Map(
    options.overrides.map((override) => {
      const [resource = '', servers = ''] = override.split('#');
      return [resource, open(servers.split(';'))];
    }),
  );
  return {
    kvFor: ({ group, resource }) => overridden.get(`${group}/${resource}`) ?? usual,
    all,
    close: async () => {
      await Promise.all(all.map(({ kv }) => kv.close()));
    },
  };
}

/** Events come and go in numbers and are seldom read: they are not cached unless a size is given for them. */
const USUALLY_UNCACHED = ['events', 'events.events.k8s.io'];

/** Whether a resource is cached, by `--watch-cache` and `--watch-cache-sizes` (`resource[.group]#size`). */
export function isCached({ group, resource }: GroupResource, watchCache: boolean, sizes: readonly string[]): boolean {
  if (!watchCache) return false;
  const name = group === '' ? resource : `${resource}.${group}`;
  const given = sizes.map((entry) => entry.split('#')).findLast(([entryName]) => entryName === name);
  return given === undefined ? !USUALLY_UNCACHED.includes(name) : Number(given[1]) !== 0;
}
