// All of discovery in one document, for clients that ask for it by its media type.
import { firstHeader, type HttpRequest } from '../lib/http.js';
import type { GroupVersion } from '../machinery/object.js';
import { resourceListOf } from './discovery-resources.js';
import type { Endpoint } from './endpoint.js';
import type { MediaType } from './media-types.js';
import { parseAccept } from './negotiate.js';
import type { RemoteResource } from './registered-versions.js';

export type AggregatedVersion = 'v2' | 'v2beta1';

export interface AggregatedForm {
  readonly version: AggregatedVersion;
  readonly media: MediaType;
}

/** The form of the all-in-one document the client prefers to plain discovery; undefined when it wants plain. */
export function wantsAggregated(
  request: HttpRequest,
  mediaTypes: readonly MediaType[],
  versions: readonly AggregatedVersion[],
): AggregatedForm | undefined {
  const accept = firstHeader(request, 'accept');
  if (accept === undefined || !accept.includes('apidiscovery.k8s.io')) return undefined;
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const media = mediaTypes.find(({ name }) => {
      const [ownType, ownSubtype] = name.split('/');
      return (type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype);
    });
    if (media === undefined) continue;
    if (!parameters.has('g') && !parameters.has('v') && !parameters.has('as')) return undefined;
    const ours = parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('as') === 'APIGroupDiscoveryList';
    const version = versions.find((name) => name === parameters.get('v'));
    if (ours && version !== undefined) return { version, media };
  }
  return undefined;
}

/** `remote`: what another server has in a version; undefined while it does not say. */
export function aggregatedGroup(
  name: string,
  versions: readonly [string, Endpoint[]][],
  remote: (version: string) => readonly object[] | undefined = () => undefined,
): object {
  return {
    metadata: name === '' ? {} : { name },
    versions: versions.map(([version, endpoints]) =>
      endpoints.length === 0 ? remoteVersion(version, remote(version)) : localVersion(name, version, endpoints),
    ),
  };
}

const remoteVersion = (version: string, resources: readonly object[] | undefined): object => ({
  version,
  ...(resources === undefined ? { freshness: 'Stale' } : { resources, freshness: 'Current' }),
});

const localVersion = (name: string, version: string, endpoints: Endpoint[]): object => ({
  version,
  resources: aggregatedResources(
    resourceListOf(endpoints),
    // Only custom resources say their own group and version, where it is what they are listed under.
    endpoints.some(({ definition }) => definition.custom) ? { group: name, version } : { group: '', version: '' },
  ),
  freshness: 'Current',
});

export function aggregatedResources(resources: readonly RemoteResource[], own: GroupVersion): object[] {
  const kindOf = (resource: RemoteResource): object => ({
    group: resource.group ?? own.group,
    version: resource.version ?? own.version,
    kind: resource.kind,
  });
  const parents = resources.filter(({ name }) => !name.includes('/'));
  return parents.map((parent) => {
    const children = resources.filter(({ name }) => name.startsWith(`${parent.name}/`));
    return {
      resource: parent.name,
      responseKind: kindOf(parent),
      scope: parent.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: parent.singularName,
      verbs: parent.verbs,
      ...(parent.shortNames && { shortNames: parent.shortNames }),
      ...(parent.categories && { categories: parent.categories }),
      ...(children.length > 0 && {
        subresources: children.map((child) => ({
          subresource: child.name.slice(parent.name.length + 1),
          responseKind: kindOf(child),
          verbs: child.verbs,
        })),
      }),
    };
  });
}
