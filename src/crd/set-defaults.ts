// Filling in what a schema has defaults for. A null where none is allowed counts as left out. A short list of empty items
// may stand for any number of long defaults, so that what is filled in is counted.
import { isPlainObject, setMember } from '../lib/values/plain-object.js';
import { requestEntityTooLarge } from '../machinery/status.js';
import { additionalOf, itemsOf, type Schema } from '../apis/apiextensions/schema-walk.js';
import { deepCopy } from '../schema/deep-copy.js';
import { encodeTree } from '../schema/json/encode.js';
import { propertyOf } from './prune.js';

/** What defaults may add to one object, as JSON: more than any store accepts of one. */
export const MAX_FILLED_BYTES = 16 * 1024 * 1024;

/** Sets defaults, in place. */
export function setDefaults(value: unknown, schema: Schema | undefined): void {
  fill(value, schema, { leftBytes: MAX_FILLED_BYTES });
}

interface Filling {
  leftBytes: number;
}

function fill(value: unknown, schema: Schema | undefined, filling: Filling): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items === undefined) return;
    for (let i = 0; i < value.length; i++) {
      if (isForbiddenNull(value[i], items)) value[i] = defaultOf(items, filling);
      fill(value[i], items, filling);
    }
    return;
  }
  if (!isPlainObject(value)) return;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (!hasDefault(property)) continue;
    if (!Object.hasOwn(value, key) || isForbiddenNull(value[key], property)) {
      filling.leftBytes -= key.length;
      setMember(value, key, defaultOf(property, filling));
    }
  }
  const additional = additionalOf(schema);
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    if (property === undefined && additional !== undefined && isForbiddenNull(value[key], additional)) {
      setMember(value, key, defaultOf(additional, filling));
    }
    fill(value[key], property ?? additional, filling);
  }
}

/** Drops nulls that are neither allowed nor replaced by a default, in place. True when there were some. */
export function dropForbiddenNulls(value: unknown, schema: Schema | undefined): boolean {
  // Where nothing is said, nothing is forbidden.
  if (schema === undefined) return false;
  let isChanged = false;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    for (const item of value) isChanged = dropForbiddenNulls(item, items) || isChanged;
    return isChanged;
  }
  if (!isPlainObject(value)) return false;
  const additional = additionalOf(schema);
  if (additional === undefined && schema.properties === undefined) return false;
  for (const key of Object.keys(value)) {
    const member = propertyOf(schema, key) ?? additional;
    if (member !== undefined && isForbiddenNull(value[key], member) && !hasDefault(member)) {
      delete value[key];
      isChanged = true;
    } else isChanged = dropForbiddenNulls(value[key], member) || isChanged;
  }
  return isChanged;
}

const isForbiddenNull = (value: unknown, schema: Schema): boolean => value === null && schema.nullable !== true;

const hasDefault = ({ default: value }: Schema): boolean => value !== undefined && value !== null;

/** A value of its own. */
function defaultOf(schema: Schema, filling: Filling): unknown {
  const { default: value = null } = schema;
  filling.leftBytes -= encodedBytes(schema);
  if (filling.leftBytes < 0) throw requestEntityTooLarge(`defaults fill in more than ${MAX_FILLED_BYTES} bytes`);
  return typeof value === 'object' && value !== null ? deepCopy(value) : value;
}

const encoded = new WeakMap<Schema, number>();

/** Of its default, with what stands around it. */
function encodedBytes(schema: Schema): number {
  let bytes = encoded.get(schema);
  if (bytes === undefined) {
    bytes = encodeTree(schema.default ?? null).length + AROUND_BYTES;
    encoded.set(schema, bytes);
  }
  return bytes;
}

/** Quotes, a colon and a comma. */
const AROUND_BYTES = 4;
