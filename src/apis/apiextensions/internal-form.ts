// The shape in which kube-apiserver shows parts of a CRD inside errors: its in-memory structs.
import { goJson } from '../../lib/go/json.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { Verbatim } from '../../machinery/field-error.js';
import { explicitEmptyOf } from '../../machinery/explicit-empty.js';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  ValidationRule,
} from '../../schema/generated/apiextensions.v1.js';
import { sorted } from './values/shown-json.js';
import { type Schema, additionalOf, itemSchemasOf, itemsOf, sortedMembers } from './schema-walk.js';

export const shownVersions = (versions: readonly CustomResourceDefinitionVersion[] | null): Verbatim =>
  shown(versions?.map(internalVersion) ?? null);
export const shownSchema = (schema: Schema): Verbatim => shown(internalSchema(schema));
export const shownRule = (rule: ValidationRule): Verbatim => shown(internalRule(rule));
/** What a list type says about its items when that is not one schema. */
export const shownItems = (schema: Schema): Verbatim => shown(internalItems(schema));

const shown = (value: unknown): Verbatim => new Verbatim(goJson(value));

const internalVersion = (version: CustomResourceDefinitionVersion) => ({
  Name: version.name,
  Served: version.served,
  Storage: version.storage,
  Deprecated: version.deprecated ?? false,
  DeprecationWarning: version.deprecationWarning ?? null,
  Schema:
    version.schema === undefined
      ? null
      : {
          OpenAPIV3Schema:
            version.schema.openAPIV3Schema === undefined ? null : internalSchema(version.schema.openAPIV3Schema),
        },
  Subresources: version.subresources === undefined ? null : internalSubresources(version.subresources),
  AdditionalPrinterColumns: version.additionalPrinterColumns?.map(internalColumn) ?? null,
  SelectableFields: version.selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
});

const internalSubresources = ({ status, scale }: CustomResourceSubresources) => ({
  Status: status === undefined ? null : {},
  Scale:
    scale === undefined
      ? null
      : {
          SpecReplicasPath: scale.specReplicasPath,
          StatusReplicasPath: scale.statusReplicasPath,
          LabelSelectorPath: scale.labelSelectorPath ?? null,
        },
});

const internalColumn = (column: CustomResourceColumnDefinition) => ({
  Name: column.name,
  Type: column.type,
  Format: column.format ?? '',
  Description: column.description ?? '',
  Priority: column.priority ?? 0,
  JSONPath: column.jsonPath,
});

const internalRule = (rule: ValidationRule) => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

/** Member names in the order of the struct, with what each is when unset. */
const TEXT = '';
const PLAIN_MEMBERS: readonly (readonly [string, keyof Schema, unknown])[] = [
  ['ID', 'id', TEXT],
  ['Schema', '$schema', TEXT],
  ['Ref', '$ref', null],
  ['Description', 'description', TEXT],
  ['Type', 'type', TEXT],
  ['Nullable', 'nullable', false],
  ['Format', 'format', TEXT],
  ['Title', 'title', TEXT],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', TEXT],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
];

function internalSchema(given: Schema): Record<string, unknown> {
  const schema: Schema = { ...explicitEmptyOf(given), ...given };
  const form: Record<string, unknown> = {};
  for (const [name, member, unset] of PLAIN_MEMBERS) form[name] = sorted(schema[member] ?? unset);
  const { externalDocs } = schema;
  return Object.assign(form, {
    Items: schema.items === undefined ? null : internalItems(schema),
    AllOf: schema.allOf?.map(internalSchema) ?? null,
    OneOf: schema.oneOf?.map(internalSchema) ?? null,
    AnyOf: schema.anyOf?.map(internalSchema) ?? null,
    Not: schema.not === undefined ? null : internalSchema(schema.not),
    Properties: internalMap(schema.properties),
    AdditionalProperties: internalOrBool(schema.additionalProperties),
    PatternProperties: internalMap(schema.patternProperties),
    Dependencies:
      schema.dependencies === undefined
        ? null
        : Object.fromEntries(
            sortedMembers(schema.dependencies).map(([name, dependency]) => [
              name,
              Array.isArray(dependency)
                ? { Schema: null, Property: dependency }
                : { Schema: internalSchema(dependency), Property: null },
            ]),
          ),
    AdditionalItems: internalOrBool(schema.additionalItems),
    Definitions: internalMap(schema.definitions),
    ExternalDocs:
      externalDocs === undefined ? null : { Description: externalDocs.description ?? '', URL: externalDocs.url ?? '' },
    Example: sorted(schema.example ?? null),
    XPreserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? null,
    XEmbeddedResource: schema['x-kubernetes-embedded-resource'] ?? false,
    XIntOrString: schema['x-kubernetes-int-or-string'] ?? false,
    XListMapKeys: schema['x-kubernetes-list-map-keys'] ?? null,
    XListType: schema['x-kubernetes-list-type'] ?? null,
    XMapType: schema['x-kubernetes-map-type'] ?? null,
    XValidations: schema['x-kubernetes-validations']?.map(internalRule) ?? null,
  });
}

const internalItems = (schema: Schema) => {
  const items = itemsOf(schema);
  const schemas = itemSchemasOf(schema);
  return {
    Schema: items === undefined ? null : internalSchema(items),
    JSONSchemas: schemas.length === 0 ? null : schemas.map(internalSchema),
  };
};

const internalMap = (members: Readonly<Record<string, Schema>> | undefined) =>
  members === undefined
    ? null
    : Object.fromEntries(sortedMembers(members).map(([name, schema]) => [name, internalSchema(schema)]));

function internalOrBool(value: Schema | boolean | undefined) {
  if (value === undefined) return null;
  if (!isPlainObject(value)) return { Allows: value, Schema: null };
  return { Allows: true, Schema: internalSchema(additionalOf({ additionalProperties: value }) ?? {}) };
}
