// Objects as a table, as kubectl shows them.
import { FieldPath, fieldErrorText, invalid as invalidField, named } from '../../machinery/field-error.js';
import { badRequest } from '../../machinery/status.js';
import { metaType } from '../../schema/catalogue.js';
import { inFieldOrder } from '../../schema/field-order.js';
import type { Cell, Column, RowCondition } from '../../registry/kind.js';
import type { StoredObject } from '../../storage/store.js';
import { type Endpoint, inVersion } from '../contract/endpoint.js';
import { partialMetadata } from './partial-metadata.js';

export type IncludeObject = 'Metadata' | 'Object' | 'None';

export interface TableForm {
  readonly version: 'v1' | 'v1beta1';
  readonly includeObject: IncludeObject;
  readonly now: Date;
  /** Only the first event of a watch carries the columns. */
  readonly withoutColumns?: boolean;
}

interface Row {
  readonly cells: readonly Cell[];
  readonly conditions?: readonly RowCondition[];
  readonly object?: object | null;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: object;
  readonly columnDefinitions: readonly object[] | null;
  readonly rows: readonly Row[];
}

export function tableOptions(query: URLSearchParams): { includeObject: IncludeObject } {
  const includeObject = query.get('includeObject') ?? '';
  switch (includeObject) {
    case '':
      return { includeObject: 'Metadata' };
    case 'Metadata':
    case 'Object':
    case 'None':
      return { includeObject };
  }
  const error = invalidField(
    FieldPath.of('includeObject'),
    named(includeObject),
    "must be 'Metadata', 'Object', 'None', or empty",
  );
  throw badRequest(`Unable to convert to Table as requested: ${fieldErrorText(error)}`);
}

export function tableOf(endpoint: Endpoint, items: readonly StoredObject[], form: TableForm, metadata: object): Table {
  const { definition } = endpoint;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${form.version}`,
    metadata,
    columnDefinitions: form.withoutColumns ? null : columnDefinitions(definition.table.columns),
    rows: inRowOrder(endpoint, items).map((item) => rowOf(endpoint, item, form)),
  };
}

/** Columns as the wire has them. */
export const columnDefinitions = (columns: readonly Column[]): readonly object[] =>
  columns.map(({ name, type, format = '', description, priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));

export function inRowOrder({ definition }: Endpoint, items: readonly StoredObject[]): readonly StoredObject[] {
  if (definition.table.compareRows === undefined || items.length < 2) return items;
  return items.toSorted((a, b) => definition.table.compareRows?.(a.object(), b.object()) ?? 0);
}

export function rowOf(endpoint: Endpoint, item: StoredObject, form: TableForm): Row {
  const { definition } = endpoint;
  const stored = item.object();
  const conditions = definition.table.rowConditions?.(stored) ?? [];
  return {
    cells: definition.table.row(stored, form.now),
    ...(conditions.length > 0 && { conditions }),
    object: includedObject(endpoint, item, form),
  };
}

function includedObject(endpoint: Endpoint, item: StoredObject, form: TableForm): object | null {
  switch (form.includeObject) {
    case 'None':
      return null;
    case 'Object':
      return inFieldOrder(endpoint.type, inVersion(endpoint, item.object())) as object;
    case 'Metadata':
      return inFieldOrder(
        metaType('PartialObjectMetadata'),
        partialMetadata(endpoint.definition, item.object(), form.version),
      ) as object;
  }
}
