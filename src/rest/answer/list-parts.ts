// What a list in some form is made of.
import { apiVersionOf } from '../../machinery/object.js';
import type { StoredObject } from '../../storage/store.js';
import { type Endpoint, inVersion } from '../contract/endpoint.js';
import { type Form, metaType } from './formed-value.js';
import type { ListShape } from './long-list.js';
import { partialMetadata } from './partial-metadata.js';
import { rowOf, tableOf } from './table.js';

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface ListParts extends ListShape {
  readonly element: (item: StoredObject) => object;
  /** What stands for no elements, when not an empty list. */
  readonly nothing?: null;
}

export function listParts(endpoint: Endpoint, form: Form, metadata: ListMeta): ListParts {
  const { transform, includeObject, nowMs } = form;
  switch (transform?.kind) {
    case 'Table': {
      const options = { version: transform.version, now: new Date(nowMs), includeObject };
      const { rows: _rows, ...envelope } = tableOf(endpoint, [], options, metadata);
      const type = metaType(transform.version, 'Table');
      return { type, envelope, member: 'rows', element: (item) => rowOf(endpoint, item, options) };
    }
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList': {
      const { version } = transform;
      const kind = 'PartialObjectMetadataList';
      const envelope = { kind, apiVersion: `meta.k8s.io/${version}`, metadata };
      const element = (item: StoredObject): object => partialMetadata(endpoint.definition, item.object(), version);
      return { type: metaType(version, kind), envelope, member: 'items', element, nothing: null };
    }
    case undefined: {
      const { definition, kind, listType } = endpoint;
      const envelope = {
        kind: definition.listKind ?? `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata: definition.custom ? { continue: '', ...metadata } : metadata,
      };
      const element = (item: StoredObject): object => {
        const object = inVersion(endpoint, item.object());
        return definition.custom ? object : withoutKind(object);
      };
      return { type: listType, envelope, member: 'items', element };
    }
  }
}

/** The items of a list carry no kind of their own. */
function withoutKind(object: object): object {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object as { kind?: string; apiVersion?: string };
  return rest;
}
