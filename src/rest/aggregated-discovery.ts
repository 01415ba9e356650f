import type { HttpRequest } from '../lib/http.js';
import { resourceListOf, type ApiResource } from './discovery-resources.js';
import type { Endpoint } from './endpoint.js';
import { parseAccept } from './negotiate.js';

export type AggregatedVersion = 'v2' | 'v2beta1';

/** The version of the all-in-one document the client prefers to plain discovery; undefined when it wants plain. */
export function wantsAggregated(request: HttpRequest): AggregatedVersion | undefined {
  const accept = request.headers['accept'];
  if (accept === undefined || !accept.includes('apidiscovery.k8s.io')) return undefined;
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const json = (type === 'application' || type === '*') && (subtype === 'json' || subtype === '*');
    if (!json) continue;
    if (parameters.get('g') === undefined) return undefined;
    const version = parameters.get('v');
    const ours = parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('as') === 'APIGroupDiscoveryList';
    if (ours && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}

export function aggregatedGroup(name: string, versions: readonly [string, Endpoint[]][]): object {
  return {
    metadata: name === '' ? {} : { name },
    versions: versions.map(([version, endpoints]) => ({
      version,
      resources: aggregatedResources(name, version, resourceListOf(endpoints)),
      freshness: 'Current',
    })),
  };
}

function aggregatedResources(group: string, version: string, resources: readonly ApiResource[]): object[] {
  const kindOf = (resource: ApiResource): object => ({
    group: resource.group ?? group,
    version: resource.version ?? version,
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
