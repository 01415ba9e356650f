import { isPlainObject } from '../../../lib/values/plain-object.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops members the schema does not know, in place. What every resource has stays, at the root (`isResource`) and in
 * embedded resources.
 */
export function prune(value: unknown, schema: Readonly<JSONSchemaProps> | undefined, isResource: boolean): void {
  if (Array.isArray(value)) {
    const keepUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
    const items = isPlainObject(schema?.items) ? schema.items : undefined;
    const itemSchema = keepUnknown ? { ...items, 'x-kubernetes-preserve-unknown-fields': true } : items;
    for (const item of value) prune(item, itemSchema, false);
    return;
  }
  if (!isPlainObject(value)) return;
  const embedded = isResource || schema?.['x-kubernetes-embedded-resource'] === true;
  const keepUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  const { properties = {}, additionalProperties } = schema ?? {};
  for (const key of Object.keys(value)) {
    if (embedded && META_FIELDS.has(key)) continue;
    if (Object.hasOwn(properties, key)) prune(value[key], properties[key], false);
    else if (additionalProperties !== undefined) {
      prune(value[key], isPlainObject(additionalProperties) ? additionalProperties : undefined, false);
    } else if (!keepUnknown) delete value[key];
  }
}
