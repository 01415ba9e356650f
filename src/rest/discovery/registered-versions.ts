import type { ApiResource } from './discovery-resources.js';

/** Another server may have verbs of its own, or list none. */
export type RemoteResource = Omit<ApiResource, 'verbs'> & { readonly verbs: readonly string[] | null };

export interface RegisteredGroup {
  /** The highest of its versions'. Higher comes first. */
  readonly rank: number;
  /** The name of the first APIService of that rank, `v1.apps`: by it plain discovery orders groups of one rank. */
  readonly firstService: string;
  /** Each with its rank within the group. */
  readonly versions: ReadonlyMap<string, number>;
}

/** The group versions that are registered here and served by others, and the order all are listed in. */
export interface RegisteredVersions {
  /** Another one whenever any of what follows may be another. */
  readonly generation: number;
  remote(): Iterable<{ readonly group: string; readonly version: string }>;
  /** What is known of one, as the all-in-one document lists it; undefined while its server does not say. */
  resources(group: string, version: string): readonly object[] | undefined;
  /** All that is registered, whoever serves it; undefined while that is not known. */
  groups(): ReadonlyMap<string, RegisteredGroup> | undefined;
  /** False for a group of this server's own that is registered no more. */
  isListed(group: string): boolean;
  /** Higher comes first; undefined for groups that are all this server's own. */
  groupRank(group: string): number | undefined;
  versionRank(group: string, version: string): number;
}
