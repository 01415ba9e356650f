// Filling in what a schema has defaults for. A null where none is allowed counts as left out.
import { isPlainObject, setMember } from '../lib/plain-object.js';
import { additionalOf, itemsOf, type Schema } from '../apis/apiextensions/schema-walk.js';
import { deepCopy } from '../schema/deep-copy.js';
import { propertyOf } from './prune.js';

/** Sets defaults, in place. */
export function setDefaults(value: unknown, schema: Schema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items === undefined) return;
    for (let i = 0; i < value.length; i++) {
      if (isForbiddenNull(value[i], items)) value[i] = copyOf(items.default);
      setDefaults(value[i], items);
    }
    return;
  }
  if (!isPlainObject(value)) return;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (!hasDefault(property)) continue;
    if (!Object.hasOwn(value, key) || isForbiddenNull(value[key], property)) {
      setMember(value, key, copyOf(property.default));
    }
  }
  const additional = additionalOf(schema);
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    if (property === undefined && additional !== undefined && isForbiddenNull(value[key], additional)) {
      setMember(value, key, copyOf(additional.default));
    }
    setDefaults(value[key], property ?? additional);
  }
}

/** Drops nulls that are neither allowed nor replaced by a default, in place. */
export function dropForbiddenNulls(value: unknown, schema: Schema | undefined): void {
  // Where nothing is said, nothing is forbidden.
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    for (const item of value) dropForbiddenNulls(item, items);
    return;
  }
  if (!isPlainObject(value)) return;
  const additional = additionalOf(schema);
  if (additional === undefined && schema.properties === undefined) return;
  for (const key of Object.keys(value)) {
    const member = propertyOf(schema, key) ?? additional;
    if (member !== undefined && isForbiddenNull(value[key], member) && !hasDefault(member)) delete value[key];
    else dropForbiddenNulls(value[key], member);
  }
}

const isForbiddenNull = (value: unknown, schema: Schema): boolean => value === null && schema.nullable !== true;

const hasDefault = ({ default: value }: Schema): boolean => value !== undefined && value !== null;

const copyOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? deepCopy(value) : (value ?? null);
