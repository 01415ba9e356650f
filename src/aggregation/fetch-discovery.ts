// What an extension server says it has: all of it in one document where it knows that form, else its version's list.
import { isPlainObject } from '../lib/plain-object.js';
import type { UserInfo } from '../machinery/user.js';
import { collectBody } from '../outbound/http-client.js';
import { aggregatedResources } from '../rest/aggregated-discovery.js';
import type { RemoteResource } from '../rest/registered-versions.js';
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
const FETCHER: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };
const OLDER_FETCHER: UserInfo = { name: 'system:kube-aggregator', groups: [] };
const TIMEOUT_MS = 5000;
/** A document larger than this is not read. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Of one version; more are not shown. */
const MAX_RESOURCES = 5000;

/** The version's resources as the all-in-one document lists them. Rejects when the server does not say. */
export async function fetchDiscovery(
  service: Readonly<APIService>,
  servers: RemoteServers,
): Promise<readonly object[]> {
  const { group = '', version = '' } = service.spec;
  const server = await servers.reach(service);
  const all = await get(server, '/apis', ACCEPT, FETCHER);
  if (all !== undefined && isAllInOne(all.contentType)) {
    const type = mustType('io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList');
    const list = (await readForeign(all.bytes, type)) as APIGroupDiscoveryList;
    return resourcesOf(list, group, version).slice(0, MAX_RESOURCES).map(withKinds);
  }
  const older = await get(server, `/apis/${group}/${version}`, 'application/json', OLDER_FETCHER);
  const told = older === undefined ? undefined : await readForeign(older.bytes, undefined);
  // Nothing at all is a list without resources.
  const resources = told === null ? [] : isPlainObject(told) ? (told.resources ?? []) : undefined;
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

/** Of what is told twice the last counts. */
export function resourcesOf(
  { items }: APIGroupDiscoveryList,
  group: string,
  version: string,
): readonly APIResourceDiscovery[] {
  const groups = (items ?? []).filter(({ metadata }) => metadata.name === group);
  const versions = groups.flatMap((one) => one.versions ?? []);
  return versions.findLast((one) => one.version === version)?.resources ?? [];
}

/** A part whose whole is not told of stands below one of which nothing else is known. Throws where their scopes differ. */
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
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Undefined for an answer that is none of a server that knows the path. */
async function get(
  { client, origin }: RemoteServer,
  path: string,
  accept: string,
  as: UserInfo,
): Promise<Fetched | undefined> {
  const headers = { accept, ...identityHeaders(as) };
  const response = await client.request({ method: 'GET', url: new URL(path, origin), headers, timeoutMs: TIMEOUT_MS });
  const bytes = await collectBody(response, MAX_BYTES);
  if (response.status !== 200) return undefined;
  return { contentType: response.headers['content-type'] ?? '', bytes };
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
