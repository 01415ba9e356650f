// Lists that are sets or maps hold no item twice.
import { append } from '../lib/values/append.js';
import { FloatLiteral } from '../lib/json/float-literal.js';
import { isPlainObject } from '../lib/values/plain-object.js';
import { asWritten } from '../lib/json/whole-floats.js';
import { duplicate, type FieldErrors, FieldPath, invalid } from '../machinery/field-error.js';
import { additionalOf, itemsOf, type Schema } from '../apis/apiextensions/schema-walk.js';
import { shownJson } from '../apis/apiextensions/values/shown-json.js';
import { encodeTree } from '../schema/json/encode.js';
import { propertyOf } from './prune.js';

export function validateUniqueItems(
  value: unknown,
  schema: Schema | undefined,
  path: FieldPath | undefined,
): FieldErrors {
  if (schema === undefined) return [];
  if (Array.isArray(value)) return path === undefined ? [] : validateList(value, schema, path);
  if (!isPlainObject(value)) return [];
  const errors: FieldErrors = [];
  const additional = additionalOf(schema);
  for (const key of Object.keys(value).sort()) {
    if (additional !== undefined) append(errors, validateUniqueItems(value[key], additional, path?.key(key)));
    const at = path === undefined ? FieldPath.of(key) : path.child(key);
    append(errors, validateUniqueItems(value[key], propertyOf(schema, key), at));
  }
  return errors;
}

function validateList(list: readonly unknown[], schema: Schema, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') {
    const identities = list.map((item, i) => identityOf(asWritten(list, i, item)));
    for (const i of repeated(identities)) errors.push(duplicate(path.index(i), shownJson(list[i])));
  } else if (listType === 'map') {
    append(errors, validateKeys(list, schema['x-kubernetes-list-map-keys'] ?? [], path));
  }
  const items = itemsOf(schema);
  if (items === undefined) return errors;
  return [...errors, ...list.flatMap((item, i) => validateUniqueItems(item, items, path.index(i)))];
}

function validateKeys(list: readonly unknown[], keys: readonly string[], path: FieldPath): FieldErrors {
  for (const [i, item] of list.entries()) {
    if (item !== null && !isPlainObject(item)) {
      return [invalid(path.index(i), shownJson(item), 'must be an object for an array of list-type map')];
    }
  }
  const keyed = list.map((item) => {
    const object = item as Readonly<Record<string, unknown>> | null;
    return Object.fromEntries(
      keys.filter((key) => object !== null && Object.hasOwn(object, key)).map((key) => [key, object?.[key]]),
    );
  });
  // A single key is compared as an item of a set is, several by their encoding.
  const only = keys.length === 1 ? keys[0] : undefined;
  const identities = keyed.map((object, i) =>
    only !== undefined && Object.hasOwn(object, only)
      ? `key ${identityOf(asWritten(list[i] as object, only, object[only]))}`
      : encodeTree(object),
  );
  return repeated(identities).map((i) => duplicate(path.index(i), shownJson(keyed[i])));
}

/** An integer and a float are two items, although both may have one encoding. */
const identityOf = (value: unknown): string =>
  value instanceof FloatLiteral ? `float ${encodeTree(value.value)}` : encodeTree(value);

/** The second place of each identity that stands in the list more than once. */
function repeated(identities: readonly string[]): number[] {
  const times = new Map<string, number>();
  return [...identities.keys()].filter((i) => {
    const text = identities[i] as string;
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    return before === 1;
  });
}
