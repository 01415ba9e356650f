// Which versions of its resources this server stores, reads and serves, and publishing them, wired.
import { identityOf, IDENTITY_NAMESPACE } from '../../bootstrap/identity-lease.js';
import { LEASES } from '../../bootstrap/leader-election/election-step.js';
import { StorageVersions, type StoredVersions } from '../../bootstrap/storage-versions/storage-versions.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { pause } from '../../lib/async/pause.js';
import { apiVersionOf } from '../../machinery/object.js';
import type { GroupResource } from '../../machinery/status.js';
import type { Options } from '../../options/options.js';
import { timestamp } from '../../registry/registry.js';
import type { ServerClient } from '../../registry/server-client.js';
import { storageVersionOf } from '../../rest/contract/endpoint.js';
import type { PostStartHook } from '../lifecycle/post-start-hooks.js';
import type { Resources } from './resources.js';

export interface StorageVersionParts {
  readonly hostname: string;
  readonly resources: Resources;
  readonly client: ServerClient;
  readonly log: Logger;
}

export interface WiredStorageVersions {
  readonly barrier: StorageVersions;
  readonly hook: PostStartHook;
}

const LEASE_POLL_MS = 100;

/** Undefined without its gates. */
export function buildStorageVersions(options: Options, parts: StorageVersionParts): WiredStorageVersions | undefined {
  const needed = ['StorageVersionAPI', 'APIServerIdentity'] as const;
  if (!needed.every((gate) => options.featureGates.enabled(gate))) return undefined;
  const { resources, client } = parts;
  const serverId = identityOf(parts.hostname);
  const barrier = new StorageVersions({
    client,
    serverId,
    stored: storedVersions(resources),
    isServed: () => resources.find('internal.apiserver.k8s.io', 'v1alpha1', 'storageversions') !== undefined,
    now: () => timestamp(new Date()),
    log: parts.log,
  });
  return {
    barrier,
    hook: {
      name: 'built-in-resources-storage-version-updater',
      async run(signal) {
        // What servers publish is removed with their leases: the lease comes first.
        while (!signal.aborted && (await client.get(LEASES, IDENTITY_NAMESPACE, serverId)) === undefined) {
          await pause(LEASE_POLL_MS, signal);
        }
        await barrier.keep(signal);
      },
    },
  };
}

/** Of the kinds the server brings along; those that share their objects with another group's are published once. */
function storedVersions(resources: Resources): StoredVersions[] {
  const registries = resources.stored().filter(({ kind }) => !kind.custom);
  const served = [...resources.all()];
  const byName = [...registries].sort((a, b) => (sortKey(a.resource) < sortKey(b.resource) ? -1 : 1));
  const published = new Set<unknown>();
  return byName.flatMap((registry) => {
    if (published.has(registry.store)) return [];
    published.add(registry.store);
    const sharing = byName.filter(({ store }) => store === registry.store);
    const own = served.filter(({ registry: of }) => of === registry);
    const encodingVersion = apiVersionOf(storageVersionOf(registry.kind));
    const decodable = sharing.flatMap(({ kind }) =>
      kind.versions.map(({ version }) => apiVersionOf({ group: kind.group, version })),
    );
    return [
      {
        resource: registry.resource,
        equivalents: sharing.map(({ resource }) => resource).filter((each) => each !== registry.resource),
        encodingVersion,
        decodableVersions: [...new Set([...decodable, encodingVersion])],
        servedVersions: own.map(({ resource: { group, version } }) => apiVersionOf({ group, version })),
      },
    ];
  });
}

const sortKey = ({ group, resource }: GroupResource): string => `${group} ${resource}`;
