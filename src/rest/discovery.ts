// What is served, told to clients: /api, /apis and below, one by one or all at once.
import crypto from 'node:crypto';
import type { HttpRequest, HttpResponse } from '../lib/http.js';
import { apiVersionOf } from '../machinery/object.js';
import { noSuchPath, wrongMethod } from '../machinery/status.js';
import { mustType, metaType } from '../schema/catalogue.js';
import { encodeJson } from '../schema/json/encode.js';
import {
  type AggregatedForm,
  aggregatedGroup,
  type AggregatedVersion,
  wantsAggregated,
} from './aggregated-discovery.js';
import { resourceListOf } from './discovery-resources.js';
import type { Endpoint } from './endpoint.js';
import { compareGroups, compareVersions } from './group-priorities.js';
import type { MediaType } from './media-types.js';
import { negotiate } from './negotiate.js';
import type { RegisteredVersions } from './registered-versions.js';
import { respondValue } from './respond.js';

export interface DiscoveryOptions {
  /** Asked anew on each request: kinds come and go. */
  readonly endpoints: () => Iterable<Endpoint>;
  readonly mediaTypes: readonly MediaType[];
  /** The versions of the all-in-one document that are still given out. */
  readonly aggregatedVersions: readonly AggregatedVersion[];
  /** Where clients reach this server: `10.0.0.1:6443`. */
  readonly serverAddress: string;
  /** What others serve that is registered here. */
  readonly registered?: RegisteredVersions;
}

/** Answers discovery requests; undefined for any other path. */
export function createDiscovery(
  options: DiscoveryOptions,
): (request: HttpRequest, path: string) => HttpResponse | undefined {
  return (request, path) => {
    const parts = path.slice(1, endWithoutSlashes(path)).split('/');
    const [root, group, version] = parts;
    if (root === 'api' && parts.length <= 2) return coreAnswer(options, request, group);
    if (root !== 'apis' || parts.length > 3) return undefined;
    if (group === undefined) return groupsAnswer(options, request);
    // The group without a name is the one under /api.
    const versions = group === '' ? undefined : groupsOf(options).get(group);
    if (versions === undefined) return undefined;
    if (version !== undefined) {
      const endpoints = versions.get(version);
      // Only the server's own groups tell as a Status which versions they do not have.
      if (endpoints === undefined && isCustom(versions)) return undefined;
      return versionAnswer(options, request, endpoints);
    }
    return respond(options, request, metaType('APIGroup'), {
      kind: 'APIGroup',
      apiVersion: 'v1',
      ...groupValue(group, versions, options.registered),
    });
  };
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

type Versions = Map<string, Endpoint[]>;

const isCustom = (versions: Versions): boolean =>
  [...versions.values()].every((endpoints) => endpoints.every(({ definition }) => definition.custom));

/** A version without endpoints is another server's. */
function groupsOf({ endpoints, registered }: DiscoveryOptions): Map<string, Versions> {
  const groups = new Map<string, Versions>();
  for (const endpoint of endpoints()) {
    const { group, version } = endpoint.kind;
    const versions = groups.get(group) ?? new Map<string, Endpoint[]>();
    groups.set(group, versions.set(version, [...(versions.get(version) ?? []), endpoint]));
  }
  for (const { group, version } of registered?.remote() ?? []) {
    groups.set(group, (groups.get(group) ?? new Map<string, Endpoint[]>()).set(version, []));
  }
  return groups;
}

function coreAnswer(
  options: DiscoveryOptions,
  request: HttpRequest,
  version: string | undefined,
): HttpResponse | undefined {
  const versions = groupsOf(options).get('') ?? new Map<string, Endpoint[]>();
  if (request.method !== 'GET') throw wrongMethod();
  if (version !== undefined) return versionAnswer(options, request, versions.get(version));
  const aggregated = wantsAggregated(request, options.mediaTypes, options.aggregatedVersions);
  if (aggregated !== undefined) return aggregatedAnswer(request, aggregated, [['', versions]]);
  return respond(options, request, metaType('APIVersions'), {
    kind: 'APIVersions',
    versions: [...versions.keys()].sort(compareVersions),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: options.serverAddress }],
  });
}

function groupsAnswer(options: DiscoveryOptions, request: HttpRequest): HttpResponse {
  const { registered } = options;
  const groups = [...groupsOf(options)]
    .filter(([name, versions]) => name !== '' && (registered?.isListed(name) !== false || isCustom(versions)))
    .sort(([a], [b]) => compareGroups(a, b, (name) => registered?.groupRank(name)));
  const aggregated = wantsAggregated(request, options.mediaTypes, options.aggregatedVersions);
  if (aggregated !== undefined) return aggregatedAnswer(request, aggregated, groups, registered);
  return respond(options, request, metaType('APIGroupList'), {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map(([name, versions]) => groupValue(name, versions, registered)),
  });
}

const inOrder = (name: string, versions: Versions, registered: RegisteredVersions | undefined): string[] => {
  const rank = (version: string): number => registered?.versionRank(name, version) ?? 0;
  const anyRemote = [...versions.values()].some((endpoints) => endpoints.length === 0);
  return [...versions.keys()].sort((a, b) => (anyRemote ? rank(b) - rank(a) : 0) || compareVersions(a, b));
};

function groupValue(name: string, versions: Versions, registered: RegisteredVersions | undefined): object {
  const listed = inOrder(name, versions, registered).map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
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
  // The list of groups, a group and the versions of custom ones are given to whoever asks, with whatever method.
  if (request.method !== 'GET' && !first.definition.custom) throw wrongMethod();
  return respond(options, request, metaType('APIResourceList'), {
    kind: 'APIResourceList',
    // The oldest group is listed without a version, as it was before lists had one.
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(first.kind),
    resources: resourceListOf(endpoints),
  });
}

function respond(
  options: DiscoveryOptions,
  request: HttpRequest,
  type: ReturnType<typeof metaType>,
  value: object,
): HttpResponse {
  const { media, pretty } = negotiate(request, options.mediaTypes, { streams: true });
  return respondValue({ request, negotiated: { media, pretty } }, 200, type, value);
}

function aggregatedAnswer(
  request: HttpRequest,
  { version, media }: AggregatedForm,
  groups: [string, Versions][],
  registered?: RegisteredVersions,
): HttpResponse {
  const type = mustType(`io.k8s.api.apidiscovery.${version}.APIGroupDiscoveryList`);
  const value = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(([name, versions]) =>
      aggregatedGroup(
        name,
        inOrder(name, versions, registered).map((one) => [one, versions.get(one) ?? []]),
        (one) => registered?.resources(name, one),
      ),
    ),
  };
  const hash = crypto.createHash('sha512').update(encodeJson(type, value)).digest('hex').toUpperCase();
  const headers = { etag: `"${hash}"`, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers['if-none-match'] === headers.etag) return { status: 304, headers, body: undefined };
  const answer = respondValue({ request, negotiated: { media, pretty: false } }, 200, type, value);
  const name = `${media.name};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  return { ...answer, headers: { ...answer.headers, ...headers, 'content-type': name } };
}
