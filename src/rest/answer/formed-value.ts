// An object in the requested form, before it is written in any encoding.
import type { AnsweredForm } from '../../lib/http/http.js';
import { typeByName } from '../../schema/catalogue.js';
import { StatusError } from '../../machinery/status.js';
import type { StructType } from '../../schema/type.js';
import type { StoredObject } from '../../storage/store.js';
import { type Endpoint, inVersion } from '../contract/endpoint.js';
import { type Negotiated, notAcceptableTransform } from '../wire/negotiate.js';
import { partialMetadata } from './partial-metadata.js';
import { type IncludeObject, tableOf, tableOptions } from './table.js';

/** Plain, as it may go to another thread. */
export interface Form {
  readonly transform: Negotiated['transform'];
  /** Of a table. */
  readonly includeObject: IncludeObject;
  readonly nowMs: number;
  /** Only the first event of a watch carries a table's columns. */
  readonly withoutColumns?: boolean;
}

export const requestedForm = ({ transform }: Negotiated, query: URLSearchParams, clock: () => Date): Form => ({
  transform,
  includeObject: transform?.kind === 'Table' ? tableOptions(query).includeObject : 'None',
  nowMs: clock().getTime(),
});

export interface FormedValue {
  readonly type: StructType;
  readonly value: object;
}

export function formedValue(endpoint: Endpoint, form: Form, stored: StoredObject): FormedValue {
  const { transform, includeObject, nowMs, withoutColumns = false } = form;
  switch (transform?.kind) {
    case undefined:
      return { type: endpoint.type, value: inVersion(endpoint, stored.object()) };
    case 'Table': {
      const options = { version: transform.version, now: new Date(nowMs), includeObject, withoutColumns };
      const value = tableOf(endpoint, [stored], options, listMetaOf(stored));
      return { type: metaType(transform.version, 'Table'), value };
    }
    case 'PartialObjectMetadata': {
      const value = partialMetadata(endpoint.definition, stored.object(), transform.version);
      return { type: metaType(transform.version, 'PartialObjectMetadata'), value };
    }
    case 'PartialObjectMetadataList':
      throw notAList(endpoint);
  }
}

/** kube-apiserver holds custom resources in one form with their lists, and is surprised only by what it finds in it. */
export const notAList = (endpoint: Endpoint): StatusError =>
  endpoint.definition.custom
    ? new StatusError(500, '', 'content is not a list')
    : notAcceptableTransform(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goName(endpoint)})`,
      );

/** What a dry run has not stored has the version of what is there. */
function listMetaOf(stored: StoredObject): { resourceVersion: string } | Record<string, never> {
  const { resourceVersion } = stored.object().metadata;
  return resourceVersion ? { resourceVersion } : {};
}

export function metaType(version: 'v1' | 'v1beta1', kind: string): StructType {
  const type =
    typeByName(`io.k8s.apimachinery.pkg.apis.meta.${version}.${kind}`) ??
    typeByName(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);
  if (type === undefined) throw new Error(`the catalogue has no ${kind} in meta/${version}`);
  return type;
}

/** How kube-apiserver names the type in its own words. */
export function goName({ kind, definition }: Endpoint, suffix = ''): string {
  if (definition.custom) return `*unstructured.Unstructured${suffix}`;
  const storageGroup = definition.storage?.group ?? kind.group;
  const group = PACKAGES[storageGroup] ?? storageGroup.split('.', 1)[0] ?? '';
  return `*${group}.${kind.kind}${suffix}`;
}

/** Where they are not called what the group is. */
const PACKAGES: Readonly<Record<string, string>> = {
  '': 'core',
  'internal.apiserver.k8s.io': 'apiserverinternal',
};

export function formOf({ name, byJson }: StructType): AnsweredForm {
  if (name.endsWith('.meta.v1.Status')) return 'status';
  if (name.endsWith('.Table')) return 'table';
  return name.endsWith('List') && byJson.has('items') ? 'list' : 'object';
}
