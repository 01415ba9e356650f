// What expressions need to know of a structural schema. Schemas of CRDs have this shape.

export interface RuleSchema {
  readonly type?: string;
  readonly format?: string;
  readonly items?: RuleSchema | readonly RuleSchema[];
  readonly properties?: Readonly<Record<string, RuleSchema>>;
  readonly additionalProperties?: RuleSchema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly maxItems?: number | bigint;
  readonly maxLength?: number | bigint;
  readonly maxProperties?: number | bigint;
  readonly allOf?: readonly RuleSchema[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly SchemaRule[];
}

export interface SchemaRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Each evaluation of a rule, and of its message, may cost this much. */
export const RULE_COST_LIMIT = 1_000_000;

export const itemsSchema = ({ items }: RuleSchema): RuleSchema | undefined =>
  items === undefined || isList(items) ? undefined : items;

/** The members that have names; undefined without any. */
export const propertiesOf = ({ properties }: RuleSchema): Readonly<Record<string, RuleSchema>> | undefined =>
  properties !== undefined && Object.keys(properties).length > 0 ? properties : undefined;

export const additionalSchema = ({ additionalProperties }: RuleSchema): RuleSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;

const isList = (items: RuleSchema | readonly RuleSchema[]): items is readonly RuleSchema[] => Array.isArray(items);

const TEXT: RuleSchema = { type: 'string' };
const META: RuleSchema = { type: 'object', properties: { name: TEXT, generateName: TEXT } };

/** The schema of a resource's root, where kind, version and names are always readable. */
export function withObjectMeta(schema: RuleSchema): RuleSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const known =
    kind?.type === 'string' &&
    apiVersion?.type === 'string' &&
    metadata?.type === 'object' &&
    metadata.properties?.['name']?.type === 'string' &&
    metadata.properties['generateName']?.type === 'string';
  if (known) return schema;
  const { items: _, ...rest } = schema;
  return { ...rest, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: META } };
}
