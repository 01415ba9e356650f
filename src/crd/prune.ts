// Dropping what a custom resource's schema does not know, and noting where it was.
import { isPlainObject } from '../lib/values/plain-object.js';
import { additionalOf, itemsOf, type Schema } from '../apis/apiextensions/schema-walk.js';

const META_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops unknown members, in place. What every resource has stays at the root (`isResource`) and in embedded resources.
 * Answers the paths of what was dropped, in order.
 */
export function prune(value: unknown, schema: Schema | undefined, isResource: boolean): string[] {
  const dropped: string[] = [];
  visit(value, isResource ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema, '', dropped);
  return dropped.sort();
}

function visit(value: unknown, schema: Schema | undefined, path: string, dropped: string[]): void {
  if (schema?.['x-kubernetes-preserve-unknown-fields']) {
    keepUnknown(value, schema, path, dropped);
    return;
  }
  if (Array.isArray(value)) {
    const items = schema === undefined ? undefined : itemsOf(schema);
    for (const [i, item] of value.entries()) visit(item, items, `${path}[${i}]`, dropped);
    return;
  }
  if (!isPlainObject(value)) return;
  const embedded = schema?.['x-kubernetes-embedded-resource'] === true;
  for (const key of Object.keys(value)) {
    if (embedded && META_FIELDS.has(key)) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const property = propertyOf(schema, key);
    if (property !== undefined) visit(value[key], property, at, dropped);
    else if (schema?.additionalProperties !== undefined) visit(value[key], additionalOf(schema), at, dropped);
    else {
      if (path !== '' || !META_FIELDS.has(key)) dropped.push(at);
      delete value[key];
    }
  }
}

/** Below a place that keeps everything, only what has a schema of its own is looked at again. */
function keepUnknown(value: unknown, schema: Schema | undefined, path: string, dropped: string[]): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) keepUnknown(item, itemsOf(schema), `${path}[${i}]`, dropped);
    return;
  }
  if (!isPlainObject(value)) return;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  for (const key of Object.keys(value)) {
    if (embedded && META_FIELDS.has(key)) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const property = propertyOf(schema, key);
    if (property !== undefined) visit(value[key], property, at, dropped);
    else if (schema.additionalProperties !== undefined) visit(value[key], additionalOf(schema), at, dropped);
  }
}

/** A member's own schema: what lies on the prototype of `properties` is none. */
export const propertyOf = (schema: Schema | undefined, key: string): Schema | undefined =>
  schema?.properties !== undefined && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
