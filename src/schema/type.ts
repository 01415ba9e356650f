// The run-time form of a type: what everything that knows fields walks.
//
// Built-in types come from the catalogue (src/schema/catalogue/*.types); a custom resource's OpenAPI schema compiles
// into the same form. Types refer to each other lazily, so a group version is materialised when first used.

export const SCALAR_NAMES = [
  'string',
  'bool',
  'int32',
  'int64',
  'double',
  'bytes',
  'quantity',
  'time',
  'microTime',
  'duration',
  'intOrString',
  /** Any JSON value. */
  'any',
  /** An embedded object of a kind of its own: kept as its JSON. */
  'rawExtension',
  /** A field set in its wire form. */
  'fieldsV1',
  /** A JSON schema or a list of them, a truth value, or a list of names: opaque to all but the codecs. */
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
] as const;

export type ScalarName = (typeof SCALAR_NAMES)[number];

export interface ScalarType {
  readonly kind: 'scalar';
  readonly scalar: ScalarName;
  /** A named string type (`PullPolicy`) keeps its name for OpenAPI. */
  readonly name?: string;
  readonly enum?: readonly string[];
}

export interface ListType {
  readonly kind: 'list';
  readonly element: Type;
  /** Of a list that has one: what kube-apiserver calls it when something else stands there. */
  readonly name?: string;
  /** A named list that protobuf wraps in a message of its own. */
  readonly message?: boolean;
  /** Where no field says so: for lists that stand in lists or maps (custom resources). */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
}

export interface MapType {
  readonly kind: 'map';
  readonly value: Type;
  /** As that of a list. */
  readonly name?: string;
  /** Where no field says so. */
  readonly mapType?: 'atomic' | 'granular';
}

export interface StructType {
  readonly kind: 'struct';
  /** `io.k8s.api.core.v1.Pod`: unique, as OpenAPI names it. */
  readonly name: string;
  /** In print order, inlined members already flattened in. */
  readonly fields: readonly Field[];
  readonly byJson: ReadonlyMap<string, Field>;
  /** `atomic`: applied and owned as one value. */
  readonly mapType?: 'atomic' | 'granular';
  readonly description?: string;
  /** Has `kind` and `apiVersion`. */
  readonly isKind?: boolean;
  /** At most one of its pointer members is set, as its discriminator says. */
  readonly union?: boolean;
  /** Inlined types that are messages of their own in protobuf. */
  readonly embedded?: readonly EmbeddedMessage[];
  /** Members outside `fields` are kept, not dropped (custom resources). */
  readonly preserveUnknown?: boolean;
  /** Set for a custom resource and its list: objects are trees that print sorted by name, whatever `fields` says. */
  readonly unstructured?: Unstructured;
}

/** How trees of a type that exists at run time only are read. */
export interface Unstructured {
  /**
   * Drops what the schema does not know and brings metadata into its normal form, in place. Returns the paths of what
   * was dropped, when `strict` is set. Throws DecodeError for metadata that is none. Nulls that the schema does not
   * allow are dropped too, unless they are to be kept.
   */
  coerce(tree: Record<string, unknown>, strict: boolean, keepNulls?: boolean): readonly string[];
  /** Brings nothing but metadata into its normal form, in place. Throws DecodeError, too. */
  readMetadata(tree: Record<string, unknown>): void;
  /** Drops what of the metadata cannot be read, in place. */
  dropUnreadable(tree: Record<string, unknown>): void;
  /** By what a tree is read that says what it is: what is sent may be of another version, or nothing that is known. */
  readAs?(said: Readonly<Record<string, unknown>>): Pick<Unstructured, 'coerce'>;
}

export interface EmbeddedMessage {
  readonly proto: number;
  readonly type: StructType;
}

export type Type = ScalarType | ListType | MapType | StructType;

export interface Field {
  readonly json: string;
  /** Resolved on first access. */
  readonly type: Type;
  /** Protobuf number; 0 when the field has none. */
  readonly proto: number;
  /** Not encoded when empty. A struct that is not a pointer is never empty. */
  readonly omitEmpty: boolean;
  /** Not encoded when it is its zero value, structs and times too. */
  readonly omitZero?: boolean;
  /** May be unset as distinct from its zero value. */
  readonly pointer: boolean;
  readonly required: boolean;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey?: string;
  /** Lies in one of the type's embedded messages: `proto` is its number there. */
  readonly embedded?: boolean;
  /** Says which member of a union is set. */
  readonly discriminator?: boolean;
  readonly description?: string;
}
