// The parameters of operations: the members of an options kind, as a query sends them.
import { metaType } from '../../schema/catalogue.js';
import type { StructType, Type } from '../../schema/type.js';
import type { Parameter } from './route.js';

/** A query parameter for each member that fits into a query. */
export function queryParametersOf(type: StructType, except: readonly string[] = []): Parameter[] {
  return type.fields.flatMap((field): Parameter[] => {
    const dataType = queryTypeOf(field.type);
    const left = field.json === 'kind' || field.json === 'apiVersion' || except.includes(field.json);
    if (left || dataType === undefined) return [];
    return [
      { name: field.json, in: 'query', type: dataType, ...(field.description && { description: field.description }) },
    ];
  });
}

function queryTypeOf(type: Type): Parameter['type'] | undefined {
  if (type.kind === 'list') return queryTypeOf(type.element);
  if (type.kind !== 'scalar') return undefined;
  switch (type.scalar) {
    case 'string':
      return 'string';
    case 'bool':
      return 'boolean';
    case 'int32':
    case 'int64':
      return 'integer';
    case 'double':
      return 'number';
    default:
      return undefined;
  }
}

export const PRETTY: Parameter = {
  name: 'pretty',
  in: 'query',
  type: 'string',
  description: 'With `true`, JSON is indented for people. Browsers, curl and wget get that without asking.',
};
export const NAMESPACE: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'The namespace the object lives in.',
};
export const SUBPATH: Parameter = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'The path to ask for behind the proxy.',
};
export const nameParameter = (kind: string): Parameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `The name of the ${kind}.`,
});

/** The parameters that each verb accepts, from the options it understands: equal for every resource. */
export interface OptionParameters {
  readonly get: readonly Parameter[];
  readonly create: readonly Parameter[];
  readonly update: readonly Parameter[];
  readonly patch: readonly Parameter[];
  readonly delete: readonly Parameter[];
  readonly list: readonly Parameter[];
  readonly deletecollection: readonly Parameter[];
}

let known: OptionParameters | undefined;

export function optionParameters(): OptionParameters {
  known ??= {
    get: queryParametersOf(metaType('GetOptions')),
    create: queryParametersOf(metaType('CreateOptions')),
    update: queryParametersOf(metaType('UpdateOptions')),
    patch: queryParametersOf(metaType('PatchOptions')),
    delete: queryParametersOf(metaType('DeleteOptions')),
    list: queryParametersOf(metaType('ListOptions')),
    deletecollection: [
      ...queryParametersOf(metaType('DeleteOptions')),
      ...queryParametersOf(metaType('ListOptions'), ['watch', 'allowWatchBookmarks']),
    ],
  };
  return known;
}
