// The types of the language, as the checker reasons about them. A type is also a value: `type(1) == int`.

export type Kind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'type-param'
  | 'uint';

/** What a declared type makes of a JSON value found at its place; see `fromJson`. */
export type Decode<V> = (json: unknown) => V;

/** What few types are beside their kind and name. */
interface TypeTraits {
  /** The type of a primitive that may be null (protobuf's wrappers). */
  readonly nullable?: boolean;
  /** Overrides how JSON is read at a place of this type; the checker never looks at it. */
  readonly decode?: Decode<unknown> | undefined;
}

export class CelType {
  readonly nullable: boolean;
  readonly decode: Decode<unknown> | undefined;

  constructor(
    readonly kind: Kind,
    /** The name expressions and error texts use: `int`, `google.protobuf.Timestamp`, the name of an object type. */
    readonly name: string,
    readonly parameters: readonly CelType[] = [],
    { nullable = false, decode }: TypeTraits = {},
  ) {
    this.nullable = nullable;
    this.decode = decode;
  }
}

export const ANY = new CelType('any', 'google.protobuf.Any');
export const BOOL = new CelType('bool', 'bool');
export const BYTES = new CelType('bytes', 'bytes');
export const DOUBLE = new CelType('double', 'double');
export const DURATION = new CelType('duration', 'google.protobuf.Duration');
export const DYN = new CelType('dyn', 'dyn');
export const ERROR = new CelType('error', '!error!');
export const INT = new CelType('int', 'int');
export const NULL = new CelType('null', 'null_type');
export const STRING = new CelType('string', 'string');
export const TIMESTAMP = new CelType('timestamp', 'google.protobuf.Timestamp');
export const TYPE = new CelType('type', 'type');
export const UINT = new CelType('uint', 'uint');

export const listType = (element: CelType): CelType => new CelType('list', 'list', [element]);
export const mapType = (key: CelType, value: CelType): CelType => new CelType('map', 'map', [key, value]);
export const typeType = (of: CelType): CelType => new CelType('type', 'type', [of]);
export const typeParam = (name: string): CelType => new CelType('type-param', name);
export const opaqueType = (name: string, ...parameters: CelType[]): CelType => new CelType('opaque', name, parameters);
export const objectType = (name: string): CelType => new CelType('struct', name);
export const optionalType = (of: CelType): CelType => new CelType('opaque', 'optional_type', [of]);
export const wrapperType = (of: CelType): CelType => new CelType(of.kind, of.name, of.parameters, { nullable: true });

/** The same type with its own way to read JSON, for instance a list whose elements have keys. */
export const decodedBy = (type: CelType, decode: Decode<unknown>): CelType =>
  new CelType(type.kind, type.name, type.parameters, { nullable: type.nullable, decode });

export const LIST = listType(DYN);
export const MAP = mapType(DYN, DYN);
export const OPTIONAL = optionalType(DYN);

export const isDyn = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'any';
export const isOptionalType = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type';

/** The parameter at a place the kind promises: the element of a list, key and value of a map. */
export function parameter(type: CelType, index: number): CelType {
  return type.parameters[index] ?? DYN;
}

/** Structurally the same, parameters included. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.nullable !== b.nullable) return false;
  if (a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((p, i) => sameType(p, parameter(b, i)));
}

/** The type as error texts show it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'any':
      return 'any';
    case 'duration':
      return 'duration';
    case 'timestamp':
      return 'timestamp';
    case 'null':
      return 'null';
    case 'error':
      return '!error!';
    default:
  }
  if (type.nullable) return `wrapper(${type.name})`;
  if (type.parameters.length === 0) return type.name;
  return `${type.name}(${type.parameters.map(formatType).join(', ')})`;
}
