// How scalars stand in a schema: in place, or by reference to a definition of their own.
import type { ScalarName } from '../type.js';
import type { JsonSchema, SchemaForm } from './json-schema.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

interface Inline {
  readonly schema: JsonSchema;
  readonly zero: string | number | boolean;
}

/** Scalars written in place, with what an unset one means. */
export const inlineScalars: Readonly<Partial<Record<ScalarName, Inline>>> = {
  string: { schema: { type: 'string' }, zero: '' },
  bool: { schema: { type: 'boolean' }, zero: false },
  int32: { schema: { type: 'integer', format: 'int32' }, zero: 0 },
  int64: { schema: { type: 'integer', format: 'int64' }, zero: 0 },
  double: { schema: { type: 'number', format: 'double' }, zero: 0 },
};

/** Bytes have no zero value of their own: unset and empty are one. */
export const BYTES: JsonSchema = { type: 'string', format: 'byte' };

/** Scalars that have a definition, by its name. */
export const namedScalars: Readonly<Partial<Record<ScalarName, string>>> = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  duration: `${META}.Duration`,
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  any: `${EXTENSIONS}.JSON`,
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  fieldsV1: `${META}.FieldsV1`,
  schemaOrArray: `${EXTENSIONS}.JSONSchemaPropsOrArray`,
  schemaOrBool: `${EXTENSIONS}.JSONSchemaPropsOrBool`,
  schemaOrStringArray: `${EXTENSIONS}.JSONSchemaPropsOrStringArray`,
};

/** The body of a PATCH, whose form its content type says. */
export const PATCH_DEFINITION = `${META}.Patch`;

const TIME: JsonSchema = { type: 'string', format: 'date-time' };

/** The definition of a scalar or of a patch; undefined for any other name. */
export function scalarDefinition(name: string, form: SchemaForm): JsonSchema | undefined {
  const definition = definitions.get(name);
  return typeof definition === 'function' ? definition(form) : definition;
}

const definitions = new Map<string | undefined, JsonSchema | ((form: SchemaForm) => JsonSchema)>([
  [
    namedScalars.quantity,
    (form) => ({
      description:
        'An amount with an optional suffix: decimal (`m`, `k`, `M`, `G` …), binary (`Ki`, `Mi`, `Gi` …) or an exponent. `500m` is one half; the server keeps the suffix family and writes the shortest equal form.',
      ...(form === 'v3' ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : { type: 'string' }),
    }),
  ],
  [
    namedScalars.intOrString,
    (form) => ({
      description:
        'Either a number or a text, kept as it was written: a port by number or name, a count or a percentage.',
      format: 'int-or-string',
      ...(form === 'v3' ? { oneOf: [{ type: 'integer' }, { type: 'string' }] } : { type: 'string' }),
    }),
  ],
  [
    namedScalars.time,
    { description: 'A moment in RFC 3339 form, to the second, in UTC when the server writes it.', ...TIME },
  ],
  [namedScalars.microTime, { description: 'A moment in RFC 3339 form, to the microsecond.', ...TIME }],
  [namedScalars.duration, { description: 'A length of time such as `90s` or `1h30m`.', type: 'string' }],
  [
    namedScalars.rawExtension,
    { description: 'An object of any kind, kept as the JSON it was sent in.', type: 'object' },
  ],
  [
    namedScalars.fieldsV1,
    {
      description:
        'A set of field paths as a tree: `f:<name>` steps into a member, `k:<keys>` and `v:<value>` into list items, `.` is the node itself.',
      type: 'object',
    },
  ],
  [
    PATCH_DEFINITION,
    {
      description: 'What to change. The Content-Type of the request says how it is to be read.',
      type: 'object',
    },
  ],
  [namedScalars.any, { description: 'Any JSON value, null included.' }],
  [namedScalars.schemaOrArray, { description: 'One schema for every item, or a list of schemas, one per position.' }],
  [namedScalars.schemaOrBool, { description: 'A schema, or whether anything at all is allowed.' }],
  [namedScalars.schemaOrStringArray, { description: 'A schema, or the names of properties that must be there too.' }],
]);
