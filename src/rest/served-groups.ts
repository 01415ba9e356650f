// The groups that are served, each with its versions: this server's own and those that others have registered.
import { remembered } from '../lib/remembered.js';
import type { DiscoveryOptions } from './discovery.js';
import type { Endpoint } from './endpoint.js';
import { compareGroups, compareVersions, groupRank } from './group-priorities.js';
import type { RegisteredVersions } from './registered-versions.js';

export type Versions = Map<string, Endpoint[]>;
export type ListedGroups = readonly (readonly [string, Versions])[];

export interface ServedGroups {
  readonly byName: ReadonlyMap<string, Versions>;
  /** The one without a name, alone. */
  readonly core: ListedGroups;
  /** All others that are listed, in their order. */
  readonly others: ListedGroups;
}

/** The same, each part of it, until kinds or registrations came or went. */
export function createGroups({ endpoints, registered }: DiscoveryOptions): () => ServedGroups {
  const groups = remembered<ServedGroups>();
  return () => {
    const local = endpoints();
    return groups([local, registered?.generation], () => {
      const byName = groupsOf(local, registered?.remote() ?? []);
      return { byName, core: [['', byName.get('') ?? new Map()]], others: listedGroups(byName, registered) };
    });
  };
}

export const isCustom = (versions: Versions): boolean =>
  [...versions.values()].every((endpoints) => endpoints.every(({ definition }) => definition.custom));

const listedGroups = (groups: Map<string, Versions>, registered: RegisteredVersions | undefined): ListedGroups =>
  [...groups]
    .filter(([name, versions]) => name !== '' && (registered?.isListed(name) !== false || isCustom(versions)))
    .map((group) => ({ group, name: group[0], rank: registered?.groupRank(group[0]) ?? groupRank(group[0]) }))
    .sort(compareGroups)
    .map(({ group }) => group);

/** A version without endpoints is another server's. */
function groupsOf(
  endpoints: readonly Endpoint[],
  remote: Iterable<{ readonly group: string; readonly version: string }>,
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
