import crypto from 'node:crypto';
import type { KindDefinition, Subresource, Verb } from '../../registry/kind.js';
import { type Endpoint, storageVersionOf } from '../contract/endpoint.js';

export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

export const EVERY_VERB: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** The resources and subresources of one group version, by name; `hashes`: of their stored forms too. */
export function resourceListOf(endpoints: readonly Endpoint[], hashes = true): ApiResource[] {
  const byName =
    <T>(nameOf: (item: T) => string) =>
    (a: T, b: T) =>
      nameOf(a) < nameOf(b) ? -1 : 1;
  const resources = endpoints
    .toSorted(byName(({ definition }) => definition.plural))
    .map((endpoint) => [resourceOf(endpoint, hashes), ...subresourcesOf(endpoint)]);
  // The subresources of custom resources are listed in the order they were invented.
  if (endpoints.every(({ definition }) => definition.custom)) return resources.flat();
  return resources.flat().sort(byName(({ name }) => name));
}

function resourceOf({ definition }: Endpoint, hashes: boolean): ApiResource {
  const { plural, singular, namespaced, kind, shortNames, categories } = definition;
  const verbs = definition.verbs ?? EVERY_VERB;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: definition.shownVerbs?.() ?? [...verbs].sort(),
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...((hashes || definition.custom === true) &&
      verbs.includes('watch') && { storageVersionHash: storageVersionHash(definition) }),
  };
}

function subresourcesOf({ definition }: Endpoint): ApiResource[] {
  const { plural, namespaced, kind, strategy, subresources = {} } = definition;
  const all: Record<string, Pick<Subresource, 'kind' | 'verbs' | 'group' | 'version'>> = { ...subresources };
  if (strategy.status !== undefined) all['status'] ??= { kind, verbs: ['get', 'patch', 'update'] };
  return Object.entries(all).map(([name, subresource]) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...(subresource.group !== undefined && { group: subresource.group }),
    ...(subresource.version !== undefined && { version: subresource.version }),
    kind: subresource.kind,
    verbs: [...subresource.verbs].sort(),
  }));
}

/** Changes when the stored form does, so that whoever migrates objects knows. */
function storageVersionHash(definition: KindDefinition): string {
  const { group, version } = storageVersionOf(definition);
  const text = `${group}/${definition.storage?.shownVersion ?? version}/${definition.kind}`;
  return crypto.createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}
