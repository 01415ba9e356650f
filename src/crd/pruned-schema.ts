// Defaults in CRDs from before there was a rule against it may hold what their schema does not know.
import { deepCopy } from '../schema/deep-copy.js';
import type { JSONSchemaProps } from '../schema/generated/apiextensions.v1.js';
import { type Schema, schemaHas, subschemas } from '../apis/apiextensions/schema-walk.js';
import { prune } from './prune.js';

/** The schema with such members dropped from its defaults. The schema itself where there is no default. */
export function withoutUnknownDefaults(schema: Schema): Schema {
  if (!schemaHas(schema, ({ default: value }) => value !== undefined)) return schema;
  const copy = deepCopy(schema);
  visit(copy);
  return copy;
}

function visit(schema: JSONSchemaProps): void {
  if (schema.default !== undefined && schema.default !== null) {
    prune(schema.default, schema, schema['x-kubernetes-embedded-resource'] === true);
  }
  for (const inner of subschemas(schema)) visit(inner as JSONSchemaProps);
}
