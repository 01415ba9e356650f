// What is served, shown to clients: /api, /apis and below, one by one or all at once.
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { apiVersionOf } from '../../machinery/object.js';
import { noSuchPath, wrongMethod } from '../../machinery/status.js';
import { metaType } from '../../schema/catalogue.js';
import { type Aggregated, type AggregatedVersion, createAggregated, wantsAggregated } from './aggregated-discovery.js';
import { resourceListOf } from './discovery-resources.js';
import type { Endpoint } from '../contract/endpoint.js';
import { compareVersions } from './group-priorities.js';
import { JSON_TYPE, MEDIA_TYPES, type MediaType } from '../wire/media-types.js';
import { negotiate, type NegotiatedPath } from '../wire/negotiate.js';
import { respondValue } from '../answer/respond.js';
import { createGroups, type GroupSources, inOrder, isCustom, type ServedGroups } from './served-groups.js';

export interface DiscoveryOptions extends GroupSources {
  readonly mediaTypes: readonly MediaType[];
  /** The versions of the all-in-one document that are still served. */
  readonly aggregatedVersions: readonly AggregatedVersion[];
  /** Where clients reach this server: `10.0.0.1:6443`. */
  readonly serverAddress: string;
  /** False leaves out the storage version hashes. */
  readonly storageVersionHashes?: boolean;
  /** Called when the all-in-one document has changed. */
  readonly onAggregated?: () => void;
}

export interface Discovery {
  /** Undefined for any path that is not discovery's. */
  answer(request: HttpRequest, path: string): HttpResponse | undefined;
  /** Encodes the most requested documents, so that no client waits for them after kinds came or went. */
  prepare(): void;
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const groupsOf = createGroups(options);
  const aggregated = createAggregated(options.registered, options.onAggregated);
  const answer = (request: HttpRequest, path: string): HttpResponse | undefined => {
    const parts = path.slice(1, endWithoutSlashes(path)).split('/');
    const [root, group, version] = parts;
    if (root === 'api' && parts.length <= 2)
      return coreAnswer(options, request, { version: group, groups: groupsOf(), aggregated });
    if (root !== 'apis' || parts.length > 3) return undefined;
    if (group === undefined) return groupsAnswer(options, request, { groups: groupsOf(), aggregated });
    // The group without a name is the one under /api.
    const versions = group === '' ? undefined : groupsOf().byName.get(group);
    if (version !== undefined) {
      if (versions === undefined) return undefined;
      const endpoints = versions.get(version);
      // Only the server's own groups answer with a Status which versions they do not have.
      if (endpoints === undefined && isCustom(versions)) return undefined;
      return versionAnswer(options, request, endpoints);
    }
    // A group that is not registered any more is listed as it is served.
    const listed = groupsOf().listed().get(group) ?? (versions && inOrder(group, versions, options.registered));
    if (listed === undefined) return undefined;
    return respond(options, {
      request,
      type: metaType('APIGroup'),
      path: GROUPS,
      value: {
        kind: 'APIGroup',
        apiVersion: 'v1',
        ...groupValue(group, listed),
      },
    });
  };
  const prepare = (): void => aggregated.others.prepare({ version: 'v2', media: JSON_TYPE }, groupsOf().others);
  return { answer, prepare };
}

function endWithoutSlashes(path: string): number {
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === 0x2f) end--;
  return end;
}

/** The paths of the index. */
export function discoveryPaths(endpoints: Iterable<Endpoint>): string[] {
  const paths = new Set(['/api', '/apis', '/apis/']);
  for (const { kind } of endpoints) {
    if (kind.group === '') paths.add(`/api/${kind.version}`);
    else paths.add(`/apis/${kind.group}`).add(`/apis/${kind.group}/${kind.version}`);
  }
  return [...paths];
}

interface Requested {
  readonly groups: ServedGroups;
  readonly aggregated: Aggregated;
}

function coreAnswer(
  options: DiscoveryOptions,
  request: HttpRequest,
  { version, groups, aggregated }: Requested & { readonly version: string | undefined },
): HttpResponse | undefined {
  const versions = groups.byName.get('') ?? new Map<string, Endpoint[]>();
  if (version !== undefined) return versionAnswer(options, request, versions.get(version));
  if (request.method !== 'GET') throw wrongMethod();
  const form = wantsAggregated(request, options.mediaTypes, options.aggregatedVersions);
  if (form !== undefined) return aggregated.core.answer(request, form, groups.core);
  return respond(options, {
    request,
    type: metaType('APIVersions'),
    path: CORE_VERSIONS,
    value: {
      kind: 'APIVersions',
      versions: [...versions.keys()].sort(compareVersions),
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: options.serverAddress }],
    },
  });
}

function groupsAnswer(
  options: DiscoveryOptions,
  request: HttpRequest,
  { groups, aggregated }: Requested,
): HttpResponse {
  const form = wantsAggregated(request, options.mediaTypes, options.aggregatedVersions);
  if (form !== undefined) return aggregated.others.answer(request, form, groups.others);
  return respond(options, {
    request,
    type: metaType('APIGroupList'),
    path: GROUPS,
    value: {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [...groups.listed()].map(([name, versions]) => groupValue(name, versions)),
    },
  });
}

function groupValue(name: string, versions: readonly string[]): object {
  const listed = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

function versionAnswer(
  options: DiscoveryOptions,
  request: HttpRequest,
  endpoints: Endpoint[] | undefined,
): HttpResponse {
  const [first] = endpoints ?? [];
  if (endpoints === undefined || first === undefined) throw noSuchPath();
  const { group } = first.kind;
  // The list of groups, a group and the versions of custom ones are the answer to any method.
  if (request.method !== 'GET' && !first.definition.custom) throw wrongMethod();
  return respond(options, {
    request,
    type: metaType('APIResourceList'),
    path: first.definition.custom ? GROUPS : RESOURCES,
    value: {
      kind: 'APIResourceList',
      // The oldest group is listed without a version, as it was before lists had one.
      ...(group !== '' && { apiVersion: 'v1' }),
      groupVersion: apiVersionOf(first.kind),
      resources: resourceListOf(endpoints, options.storageVersionHashes ?? true),
    },
  });
}

interface DiscoveryAnswer {
  readonly request: HttpRequest;
  readonly type: ReturnType<typeof metaType>;
  readonly path: NegotiatedPath;
  readonly value: object;
}

function respond(options: DiscoveryOptions, { request, type, path, value }: DiscoveryAnswer): HttpResponse {
  const negotiated = negotiate(request, path === RESOURCES ? options.mediaTypes : MEDIA_TYPES, path);
  return respondValue({ request, negotiated }, 200, type, value);
}

/** Nothing of this has another form. Only the resources of built-in versions are encoded in CBOR, too. */
const RESOURCES: NegotiatedPath = { streams: true, transforms: false };
const CORE_VERSIONS: NegotiatedPath = { transforms: false };
const GROUPS: NegotiatedPath = { transforms: false, routed: false };
