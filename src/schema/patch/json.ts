// Small helpers on JSON trees that are never changed in place.
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';

export const DIRECTIVE = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const ELEMENT_ORDER = '$setElementOrder';
export const DELETE_PRIMITIVES = '$deleteFromPrimitiveList';

/** `containers` of `$setElementOrder/containers`. */
export function fieldAfter(prefix: string, directive: string): string | undefined {
  return directive.startsWith(`${prefix}/`) ? directive.slice(prefix.length + 1) : undefined;
}

/** What a patch says of a member that is not there yet: without nulls and without objects that carry a directive. */
export function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter(hasNoDirective).map(plainValue);
  }
  if (!isPlainObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const plain: JsonObject = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    const kept = member === null ? undefined : plainValue(member);
    if (kept !== undefined) setMember(plain, name, kept);
  }
  return plain;
}

const hasNoDirective = (item: unknown): boolean => !isPlainObject(item) || !Object.hasOwn(item, DIRECTIVE);
