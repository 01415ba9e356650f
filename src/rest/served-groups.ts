// The groups that are served, each with its versions: this server's own and those that others have registered.
import { remembered } from '../lib/remembered.js';
import type { DiscoveryOptions } from './discovery.js';
import type { Endpoint } from './endpoint.js';
import { compareVersions } from './group-priorities.js';
import type { RegisteredVersions } from './registered-versions.js';

export type Versions = Map<string, Endpoint[]>;

/** By group, each with its versions; made anew when kinds or registrations came or went. */
export function createGroups({ endpoints, registered }: DiscoveryOptions): () => Map<string, Versions> {
  const groups = remembered<Map<string, Versions>>();
  return () => {
    const local = endpoints();
    const remote = [...(registered?.remote() ?? [])];
    const basis = [local, ...remote.flatMap(({ group, version }) => [group, version])];
    return groups(basis, () => groupsOf(local, remote));
  };
}

/** A version without endpoints is another server's. */
function groupsOf(
  endpoints: readonly Endpoint[],
  remote: readonly { readonly group: string; readonly version: string }[],
): Map<string, Versions> {
  const groups = new Map<string, Versions>();
  const versionsOf = (group: string): Versions => {
    const versions = groups.get(group) ?? new Map<string, Endpoint[]>();
    groups.set(group, versions);
    return versions;
  };
  for (const endpoint of endpoints) {
    const { group, version } = endpoint.kind;
    const versions = versionsOf(group);
    const known = versions.get(version);
    if (known === undefined) versions.set(version, [endpoint]);
    else known.push(endpoint);
  }
  for (const { group, version } of remote) versionsOf(group).set(version, []);
  return groups;
}

/** The versions of a group, as they are listed. */
export const inOrder = (name: string, versions: Versions, registered: RegisteredVersions | undefined): string[] => {
  const rank = (version: string): number => registered?.versionRank(name, version) ?? 0;
  const anyRemote = [...versions.values()].some((endpoints) => endpoints.length === 0);
  return [...versions.keys()].sort((a, b) => (anyRemote ? rank(b) - rank(a) : 0) || compareVersions(a, b));
};
