// The type a schema gives to a value in expressions, with the bounds that estimates of cost are made from: how long it
// can be at most, and how few bytes of JSON the smallest one has.
import { escapeFieldName } from './field-names.js';
import { type RuleSchema, additionalSchema, itemsSchema, propertiesOf, withObjectMeta } from './rule-schema.js';

export type DeclaredType = ScalarType | ListType | MapType | ObjectType;

interface Bounds {
  /** Elements, members, characters. */
  readonly maxElements: number;
  /** The fewest bytes its JSON can have. */
  readonly minSize: number;
}

export interface ScalarType extends Bounds {
  readonly kind: 'bool' | 'int' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration' | 'dyn';
}

export interface ListType extends Bounds {
  readonly kind: 'list';
  readonly element: DeclaredType;
}

/** Keys are strings; nothing is known of their length. */
export interface MapType extends Bounds {
  readonly kind: 'map';
  readonly keyLength: 0;
  readonly element: DeclaredType;
}

export interface ObjectType extends Bounds {
  readonly kind: 'object';
  /** By the name they have in expressions. */
  readonly fields: ReadonlyMap<string, DeclaredType>;
}

/** The largest request the server reads, and so the largest object there can be. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const SMALLEST = {
  bool: 4,
  number: 1,
  string: 2,
  duration: 3,
  date: 12,
  dateTime: 21,
  any: 1,
  emptyList: 2,
  emptyObject: 2,
};
const LONGEST = { duration: 32, date: 12, dateTime: 32, string: MAX_REQUEST_BYTES - 2 };
/** maxLength counts characters; one can have this many bytes. */
const BYTES_OF_CHARACTER = 4;

/**
 * Undefined: values of this schema cannot be seen in expressions. `isResource` is true at the root of a custom resource
 * and of a resource embedded in one.
 */
export function declaredType(schema: RuleSchema, isResource: boolean): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    const maxElements = lengthLimit(schema, BYTES_OF_CHARACTER) ?? LONGEST.string;
    return { kind: 'dyn', maxElements, minSize: SMALLEST.any };
  }
  const known = isResource ? withObjectMeta(schema) : schema;
  switch (known.type) {
    case 'array':
      return listType(known);
    case 'object':
      return additionalSchema(known) === undefined ? objectType(known) : mapType(known);
    case 'string':
      return stringType(known);
    case 'boolean':
      return { kind: 'bool', maxElements: 0, minSize: SMALLEST.bool };
    case 'number':
      return { kind: 'double', maxElements: 0, minSize: SMALLEST.number };
    case 'integer':
      return { kind: 'int', maxElements: 0, minSize: SMALLEST.number };
    default:
      return undefined;
  }
}

const isEmbedded = (schema: RuleSchema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function listType(schema: RuleSchema): ListType | undefined {
  const items = itemsSchema(schema);
  const element = items && declaredType(items, isEmbedded(items));
  if (element === undefined) return undefined;
  // Each item is followed by a comma or the closing bracket.
  const maxElements = limit(schema.maxItems) ?? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 1));
  return { kind: 'list', element, maxElements, minSize: SMALLEST.emptyList };
}

function mapType(schema: RuleSchema): MapType | undefined {
  const values = additionalSchema(schema);
  const element = values && declaredType(values, isEmbedded(values));
  if (element === undefined) return undefined;
  // A key of two characters in quotes, a colon and a comma.
  const maxElements = limit(schema.maxProperties) ?? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 6));
  return { kind: 'map', keyLength: 0, element, maxElements, minSize: SMALLEST.emptyObject };
}

function objectType(schema: RuleSchema): ObjectType {
  const fields = new Map<string, DeclaredType>();
  const required = new Set(schema.required);
  let minSize = SMALLEST.emptyObject;
  for (const [name, property] of Object.entries(propertiesOf(schema) ?? {})) {
    const type = declaredType(property, isEmbedded(property));
    if (type === undefined) continue;
    const escaped = escapeFieldName(name);
    if (escaped !== undefined) fields.set(escaped, type);
    // What has a default need not be sent.
    const isSent = required.has(name) && (property.default === undefined || property.default === null);
    if (isSent) minSize += Buffer.byteLength(name) + type.minSize + 4;
  }
  return { kind: 'object', fields, maxElements: 0, minSize };
}

function stringType(schema: RuleSchema): ScalarType {
  switch (schema.format) {
    case 'byte':
      return { kind: 'bytes', maxElements: lengthLimit(schema, 1) ?? LONGEST.string, minSize: SMALLEST.string };
    case 'duration':
      return { kind: 'duration', maxElements: LONGEST.duration, minSize: SMALLEST.duration };
    case 'date':
      return { kind: 'timestamp', maxElements: LONGEST.date, minSize: SMALLEST.date };
    case 'date-time':
      return { kind: 'timestamp', maxElements: LONGEST.dateTime, minSize: SMALLEST.dateTime };
    default: {
      const choices = (schema.enum ?? []).filter((choice) => typeof choice === 'string');
      const longest =
        (schema.enum?.length ?? 0) > 0
          ? choices.reduce((most, choice) => Math.max(most, Buffer.byteLength(choice)), 0)
          : LONGEST.string;
      return {
        kind: 'string',
        maxElements: lengthLimit(schema, BYTES_OF_CHARACTER) ?? longest,
        minSize: SMALLEST.string,
      };
    }
  }
}

function lengthLimit({ maxLength }: RuleSchema, factor: number): number | undefined {
  const most = limit(maxLength);
  return most === undefined ? undefined : most * factor;
}

const limit = (stated: number | bigint | undefined): number | undefined =>
  stated === undefined ? undefined : Math.max(0, Number(stated));
