// What an extension server says it has: all of it in one document where it knows that form, else its version's list.
import { isPlainObject } from '../lib/values/plain-object.js';
import type { UserInfo } from '../machinery/user.js';
import { collectBody } from '../outbound/http-client.js';
import { requestDecompressed } from '../outbound/proxy/forward.js';
import { aggregatedResources } from '../rest/discovery/aggregated-discovery.js';
import type { RemoteResource } from '../rest/discovery/registered-versions.js';
import { mustType } from '../schema/catalogue.js';
import { readForeign } from '../schema/json/read-foreign.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import type { APIGroupDiscoveryList, APIResourceDiscovery } from '../schema/generated/apidiscovery.v2.js';
import { identityHeaders } from './identity-headers.js';
import type { RemoteServer, RemoteServers } from './remote-servers.js';

const ALL_IN_ONE_VERSIONS = ['v2', 'v2beta1'];
const ALL_IN_ONE = { type: 'application/json', group: 'apidiscovery.k8s.io', kind: 'APIGroupDiscoveryList' };
const ACCEPT = ALL_IN_ONE_VERSIONS.map(
  (version) => `${ALL_IN_ONE.type};g=${ALL_IN_ONE.group};v=${version};as=${ALL_IN_ONE.kind}`,
).join(',');
/** A document without an apiVersion counts as the requested one. */
const API_VERSIONS = ['', ...ALL_IN_ONE_VERSIONS.map((version) => `${ALL_IN_ONE.group}/${version}`)];
const FETCHER: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };
const OLDER_FETCHER: UserInfo = { name: 'system:kube-aggregator', groups: [] };
const TIMEOUT_MS = 5000;
/** A document larger than this is not read. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Of one version; more are not shown. */
const MAX_RESOURCES = 5000;

/** All that a server has in one document, and what it calls this state of it; empty where it does not. */
export interface DiscoveryDocument {
  readonly etag: string;
  readonly list: APIGroupDiscoveryList;
}

export interface FetchedDiscovery {
  /** The version's, as the all-in-one document lists them. */
  readonly resources: readonly object[];
  /** Undefined from a server that knows only the older form. */
  readonly document?: DiscoveryDocument;
}

/** What is known already counts while the server has nothing else. Rejects when it does not say. */
export async function fetchDiscovery(
  service: Readonly<APIService>,
  servers: Pick<RemoteServers, 'reach'>,
  known: DiscoveryDocument | undefined,
): Promise<FetchedDiscovery> {
  const { group = '', version = '' } = service.spec;
  const server = await servers.reach(service);
  const etag = known?.etag ?? '';
  const all = await get(server, '/apis', { accept: ACCEPT, etag, as: FETCHER });
  if (all.status === SERVICE_UNAVAILABLE) throw new Error('the server is not available');
  const document = await documentOf(all, known);
  if (document !== undefined) {
    const resources = resourcesOf(document.list, group, version).slice(0, MAX_RESOURCES).map(withKinds);
    return { resources, document };
  }
  const path = `/apis/${group}/${version}`;
  const older = await get(server, path, { accept: 'application/json', etag, as: OLDER_FETCHER });
  return { resources: await olderResources(older) };
}

const NOTHING: APIGroupDiscoveryList = { metadata: {}, items: [] };
const NOT_MODIFIED = 304;
const SERVICE_UNAVAILABLE = 503;

/** Undefined for an answer that is none of a server that knows the form. */
async function documentOf(
  { status, contentType, bytes, etag }: Fetched,
  known: DiscoveryDocument | undefined,
): Promise<DiscoveryDocument | undefined> {
  // That there is nothing new is believed of a server that has not said anything yet, too.
  if (status === NOT_MODIFIED) return known ?? { etag: '', list: NOTHING };
  if (status !== 200 || !isAllInOne(contentType)) return undefined;
  if (bytes.length === 0) return { etag, list: NOTHING };
  const type = mustType('io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList');
  const list = (await readForeign(bytes, type)) as APIGroupDiscoveryList;
  const { kind = '', apiVersion = '' } = list;
  if (!['', ALL_IN_ONE.kind].includes(kind) || !API_VERSIONS.includes(apiVersion)) {
    throw new Error(`${apiVersion} ${kind} is no such document`);
  }
  return { etag, list };
}

async function olderResources({ status, bytes }: Fetched): Promise<readonly object[]> {
  const document = status === 200 ? await readForeign(bytes, undefined) : undefined;
  // Nothing at all is a list without resources.
  const resources = document === null ? [] : isPlainObject(document) ? (document.resources ?? []) : undefined;
  if (!Array.isArray(resources)) throw new Error('the answer is no list of resources');
  const read = withParents(resources.slice(0, MAX_RESOURCES).flatMap(resourceOf));
  return aggregatedResources(read, { group: '', version: '' });
}

/** That an answer is the document, and not one in a form that is not read here. */
export function isAllInOne(contentType: string): boolean {
  const [type = '', ...rest] = contentType.split(';').map((part) => part.trim());
  const parameters = new Map(
    rest.map((part) => {
      const equals = part.indexOf('=');
      return [part.slice(0, equals).toLowerCase(), part.slice(equals + 1)];
    }),
  );
  return (
    type.toLowerCase() === ALL_IN_ONE.type &&
    parameters.get('g') === ALL_IN_ONE.group &&
    parameters.get('as') === ALL_IN_ONE.kind &&
    ALL_IN_ONE_VERSIONS.includes(parameters.get('v') ?? '')
  );
}

/** Of duplicates the last counts. */
export function resourcesOf(
  { items }: APIGroupDiscoveryList,
  group: string,
  version: string,
): readonly APIResourceDiscovery[] {
  const groups = (items ?? []).filter(({ metadata }) => metadata.name === group);
  const versions = groups.flatMap((one) => one.versions ?? []);
  return versions.findLast((one) => one.version === version)?.resources ?? [];
}

/** A subresource without its resource gets a bare parent. Throws where their scopes differ. */
export function withParents(resources: readonly RemoteResource[]): readonly RemoteResource[] {
  const parents = new Map<string, RemoteResource>();
  for (const one of resources) if (!one.name.includes('/')) parents.set(one.name, one);
  const unknown: RemoteResource[] = [];
  for (const { name: part, namespaced } of resources) {
    const slash = part.indexOf('/');
    if (slash < 0) continue;
    const name = part.slice(0, slash);
    let parent = parents.get(name);
    if (parent === undefined) {
      parent = { name, namespaced, kind: '', singularName: '', verbs: null };
      parents.set(name, parent);
      unknown.push(parent);
    }
    if (parent.namespaced !== namespaced) throw new Error(`the scopes of ${name} and ${part} differ`);
  }
  return [...resources, ...unknown];
}

const NO_KIND = { group: '', version: '', kind: '' };

/** Older clients fall over what has no kind. */
const withKinds = (resource: APIResourceDiscovery): APIResourceDiscovery => ({
  ...resource,
  responseKind: resource.responseKind ?? NO_KIND,
  ...(resource.subresources && {
    subresources: resource.subresources.map((part) => ({ ...part, responseKind: part.responseKind ?? NO_KIND })),
  }),
});

interface Fetched {
  readonly status: number;
  readonly contentType: string;
  readonly etag: string;
  readonly bytes: Buffer;
}

interface RequestHeaders {
  readonly accept: string;
  /** What is known already; empty for nothing. */
  readonly etag: string;
  readonly as: UserInfo;
}

async function get(server: RemoteServer, path: string, { accept, etag, as }: RequestHeaders): Promise<Fetched> {
  const { client, origin, host } = server;
  const headers = {
    accept,
    ...(etag !== '' && { 'if-none-match': etag }),
    'x-forwarded-host': host,
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': path,
    ...identityHeaders(as),
  };
  const url = new URL(path, origin);
  const response = await requestDecompressed(client, { method: 'GET', url, headers, timeoutMs: TIMEOUT_MS });
  const bytes = await collectBody(response, MAX_BYTES);
  const { 'content-type': contentType = '', etag: theirs = '' } = response.headers;
  return { status: response.status, contentType, etag: theirs, bytes };
}

/** Only what a resource may say of itself, each of its type. */
function resourceOf(value: unknown): RemoteResource[] {
  if (!isPlainObject(value)) return [];
  const text = (name: string): string => (typeof value[name] === 'string' ? value[name] : '');
  const texts = (name: string): string[] =>
    Array.isArray(value[name]) ? value[name].filter((one): one is string => typeof one === 'string') : [];
  const name = text('name');
  if (name === '') return [];
  const shortNames = texts('shortNames');
  const categories = texts('categories');
  return [
    {
      name,
      singularName: text('singularName'),
      namespaced: value.namespaced === true,
      kind: text('kind'),
      verbs: texts('verbs'),
      ...(text('group') !== '' && { group: text('group') }),
      ...(text('version') !== '' && { version: text('version') }),
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    },
  ];
}
