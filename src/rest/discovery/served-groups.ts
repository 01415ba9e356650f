// The groups that are served, each with its versions: this server's own and those that others have registered.
import { memoizeLast } from '../../lib/values/memoize-last.js';
import type { Endpoint } from '../contract/endpoint.js';
import { compareGroups, compareVersions, groupRank, REGISTRATION } from './group-priorities.js';
import type { RegisteredVersions } from './registered-versions.js';

export type Versions = Map<string, Endpoint[]>;
export type ListedGroups = readonly (readonly [string, Versions])[];

export interface ServedGroups {
  readonly byName: ReadonlyMap<string, Versions>;
  /** The one without a name, alone. */
  readonly core: ListedGroups;
  /** All others that are listed, in their order. */
  readonly others: ListedGroups;
  /** The versions of each group but that without a name, both in the order of the older documents. */
  listed(): ReadonlyMap<string, readonly string[]>;
}

export interface GroupSources {
  /** Asked anew on each request: kinds come and go. The same list until they do, or have other verbs. */
  readonly endpoints: () => readonly Endpoint[];
  /** What others serve that is registered here. */
  readonly registered?: RegisteredVersions;
}

/** Memoizes the groups, and each part of them, until kinds or registrations came or went. */
export function createGroups({ endpoints, registered }: GroupSources): () => ServedGroups {
  const groups = memoizeLast<ServedGroups>();
  return () => {
    const local = endpoints();
    return groups([local, registered?.generation], () => {
      const byName = groupsOf(local, registered?.remote() ?? []);
      const others = listedGroups(byName, registered);
      const core: ListedGroups = [['', byName.get('') ?? new Map()]];
      let listed: ReadonlyMap<string, readonly string[]> | undefined;
      return { byName, core, others, listed: () => (listed ??= listedVersions(byName, others, registered)) };
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

/** What is registered is listed, whether anybody serves it or not; custom resources are from the beginning. */
function listedVersions(
  groups: ReadonlyMap<string, Versions>,
  served: ListedGroups,
  registered: RegisteredVersions | undefined,
): ReadonlyMap<string, readonly string[]> {
  const known = registered?.groups();
  if (known === undefined)
    return new Map(served.map(([name, versions]) => [name, inOrder(name, versions, registered)]));
  return new Map(
    [...new Set([...groups.keys(), ...known.keys()])]
      .filter((name) => name !== '')
      .map((name) => ({
        name,
        rank: known.get(name)?.rank ?? groupRank(name),
        firstService: known.get(name)?.firstService ?? firstService(name, groups.get(name)),
        versions: new Map([...unregistered(name, groups.get(name)), ...(known.get(name)?.versions ?? [])]),
      }))
      .filter(({ versions }) => versions.size > 0)
      .sort(compareGroups)
      .map(({ name, versions }) => [name, byRank(versions)]),
  );
}

/** What is listed without being registered: where registrations are made, and what will be registered in a moment. */
const unregistered = (name: string, versions: Versions = new Map()): [string, number][] =>
  [...versions]
    .filter(([, endpoints]) => name === REGISTRATION || endpoints[0]?.definition.custom === true)
    .map(([version]) => [version, CUSTOM_VERSION_RANK]);

const firstService = (name: string, versions: Versions = new Map()): string | undefined =>
  [...versions.keys()].map((version) => `${version}.${name}`).sort()[0];

const CUSTOM_VERSION_RANK = 100;

const byRank = (versions: ReadonlyMap<string, number>): string[] =>
  [...versions].sort(([a, rankA], [b, rankB]) => rankB - rankA || compareVersions(a, b)).map(([version]) => version);

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
