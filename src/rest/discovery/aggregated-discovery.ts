// All of discovery in one document, for clients that request it by its media type.
import crypto from 'node:crypto';
import { type AnsweredObject, firstHeader, type HttpRequest, type HttpResponse } from '../../lib/http/http.js';
import { memoizeLast, sameItems } from '../../lib/values/memoize-last.js';
import type { GroupVersion } from '../../machinery/object.js';
import { mustType } from '../../schema/catalogue.js';
import { encodeJson } from '../../schema/json/encode.js';
import { resourceListOf } from './discovery-resources.js';
import type { Endpoint } from '../contract/endpoint.js';
import type { MediaType } from '../wire/media-types.js';
import { parseAccept } from '../wire/negotiate.js';
import type { RegisteredVersions, RemoteResource } from './registered-versions.js';
import { renderedValue } from '../answer/rendered-value.js';
import { answer } from '../answer/respond.js';
import { inOrder, type ListedGroups } from './served-groups.js';

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

export interface AggregatedDocument {
  /** `groups`: one list by identity until its content changes. */
  answer(request: HttpRequest, form: AggregatedForm, groups: ListedGroups): HttpResponse;
  /** Encodes the answer to the next request. */
  prepare(form: AggregatedForm, groups: ListedGroups): void;
}

export interface Aggregated {
  readonly core: AggregatedDocument;
  readonly others: AggregatedDocument;
}

export const createAggregated = (registered: RegisteredVersions | undefined, onNew?: () => void): Aggregated => ({
  core: aggregatedDocument(undefined, onNew),
  others: aggregatedDocument(registered, onNew),
});

/** The document is encoded once for each form, until its content changes; so is each of its groups. */
function aggregatedDocument(registered: RegisteredVersions | undefined, onNew?: () => void): AggregatedDocument {
  const describe = memoizeLast<readonly DescribedGroup[]>();
  const documents = memoizeLast<{ readonly etag: string; readonly byForm: Map<string, RenderedDocument> }>();
  let known: KnownGroups = new Map();
  const documentOf = (form: AggregatedForm, groups: ListedGroups): RenderedDocument & { readonly etag: string } => {
    const described = describe([groups], () =>
      groups.map((group) => describedGroup(known.get(group[0]), group, registered)),
    );
    const { etag, byForm } = documents(described, () => {
      onNew?.();
      known = new Map(described.map((group) => [group.name, group]));
      return { etag: etagOf(described), byForm: new Map() };
    });
    const name = nameOf(form);
    let document = byForm.get(name);
    if (document === undefined) byForm.set(name, (document = encodeAggregated(form, described)));
    return { ...document, etag };
  };
  return {
    answer(request, form, groups) {
      const document = documentOf(form, groups);
      const headers = { etag: document.etag, vary: 'Accept', 'cache-control': 'public' };
      if (request.headers['if-none-match'] === headers.etag) return { status: 304, headers, body: undefined };
      const response = answer(request, {
        status: 200,
        media: form.media,
        body: document.bytes,
        object: document.object,
      });
      return { ...response, headers: { ...response.headers, ...headers, 'content-type': nameOf(form) } };
    },
    prepare: (form, groups) => void documentOf(form, groups),
  };
}

const nameOf = ({ media, version }: AggregatedForm): string =>
  `${media.name};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

/** All that is shown of a group: where custom kinds end, their verbs change while they stay. */
function basisOf([name, versions]: ListedGroups[number], registered: RegisteredVersions | undefined): unknown[] {
  const basis: unknown[] = inOrder(name, versions, registered);
  for (const [version, endpoints] of versions) {
    if (endpoints.length === 0) basis.push(registered?.resources(name, version));
    for (const endpoint of endpoints) basis.push(endpoint, endpoint.definition.shownVerbs?.());
  }
  return basis;
}

interface DescribedGroup {
  readonly name: string;
  readonly basis: readonly unknown[];
  readonly value: object;
  /** By the version of the document. */
  readonly json: Map<AggregatedVersion, string>;
}

type KnownGroups = ReadonlyMap<string, DescribedGroup>;

function describedGroup(
  known: DescribedGroup | undefined,
  group: ListedGroups[number],
  registered: RegisteredVersions | undefined,
): DescribedGroup {
  const [name, versions] = group;
  const basis = basisOf(group, registered);
  if (known !== undefined && sameItems(known.basis, basis)) return known;
  const value = aggregatedGroup(
    name,
    inOrder(name, versions, registered).map((one) => [one, versions.get(one) ?? []]),
    (one) => registered?.resources(name, one),
  );
  return { name, basis, value, json: new Map() };
}

interface RenderedDocument {
  readonly bytes: Buffer;
  readonly object: AnsweredObject;
}

function encodeAggregated({ version, media }: AggregatedForm, groups: readonly DescribedGroup[]): RenderedDocument {
  const type = mustType(`io.k8s.api.apidiscovery.${version}.APIGroupDiscoveryList`);
  const list = { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {} };
  // The items are the last member.
  const json = `${encodeJson(type, { ...list, items: [] }).slice(0, -']}'.length)}${itemsJson(version, groups)}]}`;
  const value = { ...list, items: groups.map((group) => group.value) };
  return renderedValue({ media, pretty: false }, type, value, json);
}

/** kube-apiserver hashes the list of v2 before it has a kind, and so tags every form of it alike. */
function etagOf(groups: readonly DescribedGroup[]): string {
  const json = `{"metadata":{},"items":[${itemsJson('v2', groups)}]}`;
  return `"${crypto.createHash('sha512').update(json).digest('hex').toUpperCase()}"`;
}

function itemsJson(version: AggregatedVersion, groups: readonly DescribedGroup[]): string {
  const type = mustType(`io.k8s.api.apidiscovery.${version}.APIGroupDiscovery`);
  const items = groups.map(({ json, value }) => {
    let item = json.get(version);
    if (item === undefined) json.set(version, (item = encodeJson(type, value)));
    return item;
  });
  return items.join();
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
  const childrenOf = new Map<string, RemoteResource[]>();
  for (const resource of resources) {
    const slash = resource.name.indexOf('/');
    if (slash < 0) continue;
    const parent = resource.name.slice(0, slash);
    const children = childrenOf.get(parent);
    if (children === undefined) childrenOf.set(parent, [resource]);
    else children.push(resource);
  }
  const parents = resources.filter(({ name }) => !name.includes('/'));
  return parents.map((parent) => {
    const children = childrenOf.get(parent.name) ?? [];
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
