// What kube-apiserver has left of a strategic merge patch once it is merged, which is what its refusals show: it follows
// directives by removing them, and drops nulls from what is new.
import { goTypeName } from '../../lib/go/value.js';
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';
import type { Type } from '../type.js';
import { DELETE_PRIMITIVES, DIRECTIVE, ELEMENT_ORDER, fieldAfter, plainValue, RETAIN_KEYS } from './json.js';
import { listRule, type MergeRule, objectRule } from './patch-type.js';

/** Of a patch that could be merged into `original`. */
export function leftOfPatch(original: Readonly<JsonObject>, patch: Readonly<JsonObject>, type: Type): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return leftOfDirective(patch);
  const retained = Array.isArray(patch[RETAIN_KEYS]) ? new Set<unknown>(patch[RETAIN_KEYS]) : undefined;
  const ordered = new Set(Object.keys(patch).map((name) => fieldAfter(ELEMENT_ORDER, name)));
  const left: JsonObject = {};
  for (const [name, value] of Object.entries(patch)) {
    if (name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || ordered.has(name)) continue;
    const isKept = Object.hasOwn(original, name) && (retained === undefined || retained.has(name));
    const isAsSent = value === null || name.startsWith(DELETE_PRIMITIVES);
    setMember(left, name, isAsSent ? value : leftOfValue(isKept ? original[name] : undefined, value, type, name));
  }
  return left;
}

function leftOfDirective(patch: Readonly<JsonObject>): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  return directive === 'replace' ? rest : patch;
}

function leftOfValue(current: unknown, value: unknown, type: Type, name: string): unknown {
  if (isPlainObject(current) && isPlainObject(value)) {
    const rule = objectRule(type, name);
    return rule.strategy === 'replace' ? value : leftOfPatch(current, value, rule.type);
  }
  if (Array.isArray(current) && Array.isArray(value)) return leftOfList(current, value, listRule(type, name));
  return current !== undefined && goTypeName(current) === goTypeName(value) ? value : leftOfNew(value);
}

function leftOfList(
  current: readonly unknown[],
  list: readonly unknown[],
  { strategy, mergeKey, type }: MergeRule,
): readonly unknown[] {
  if (strategy !== 'merge' || mergeKey === undefined) return list;
  if (list.some((item) => isPlainObject(item) && item[DIRECTIVE] === 'replace')) return list;
  const byKey = new Map(current.filter(isPlainObject).map((item) => [item[mergeKey], item]));
  return list.map((item) => {
    if (!isPlainObject(item) || Object.hasOwn(item, DIRECTIVE)) return item;
    const merged = byKey.get(item[mergeKey]);
    if (merged !== undefined) return leftOfPatch(merged, item, type);
    byKey.set(item[mergeKey], item);
    return item;
  });
}

/** A value that directs something itself stays, but for its nulls. */
function leftOfNew(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(leftOfNew);
  if (!isPlainObject(value) || !Object.hasOwn(value, DIRECTIVE)) return plainValue(value);
  const { [DIRECTIVE]: directive, ...rest } = value;
  return { ...(plainValue(rest) as JsonObject), [DIRECTIVE]: directive };
}
