// Strategic merge patch: a merge patch that knows from the type which lists merge, and by which key.
import { ResumableWalk, UNDIVIDED } from '../../lib/scheduling/resumable-walk.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import { isPlainObject, ownMember, setMember } from '../../lib/values/plain-object.js';
import { goTypeName, goValueText } from '../../lib/go/value.js';
import type { JsonObject } from '../../machinery/object.js';
import type { StructType, Type } from '../type.js';
import { mergeKeyOf, orderMerged } from './element-order.js';
import { DELETE_PRIMITIVES, DIRECTIVE, ELEMENT_ORDER, fieldAfter, plainValue, RETAIN_KEYS } from './json.js';
import {
  badElementOrder,
  badPrimitiveList,
  badRetainKeys,
  listOfLists,
  noMergeKey,
  unexplained,
  unknownDirective,
  wrongType,
} from './patch-errors.js';
import { listRule, type MergeRule, objectRule } from './patch-type.js';

/**
 * The patched object: plain JSON, not in normal form yet, sharing parts with both arguments, which stay as they are.
 * Throws StatusError.
 */
export const strategicMergePatch = (
  original: Readonly<JsonObject>,
  patch: Readonly<JsonObject>,
  type: StructType,
): JsonObject => runSync(strategicMergeSteps(original, patch, type));

/** strategicMergePatch() in steps, for large objects. A list is merged in one step. */
export function* strategicMergeSteps(
  original: Readonly<JsonObject>,
  patch: Readonly<JsonObject>,
  type: StructType,
): StepGenerator<JsonObject> {
  const resumable = new ResumableWalk();
  const merged = mergeObject(original, patch, type, resumable);
  if (resumable.hasDeferred) yield* resumable.resume();
  return merged;
}

function mergeObject(
  original: Readonly<JsonObject>,
  patch: Readonly<JsonObject>,
  type: Type,
  resumable: ResumableWalk = UNDIVIDED,
): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return followDirective(patch);
  const names = resumable.names(patch);
  if (names.some((name) => name.startsWith('$'))) return mergeDirected(original, patch, type);
  const target: Target = { merged: {}, type, resumable };
  mergeMembers({ original, patch, target }, resumable.names(original), names);
  return target.merged;
}

interface Merging {
  readonly original: Readonly<JsonObject>;
  readonly patch: Readonly<JsonObject>;
  readonly target: Target;
}

// hot: every object of a patch. Loops, for V8 drops what it compiled of functions that each call makes anew.
function mergeMembers(merging: Merging, before: readonly string[], names: readonly string[], from = 0): void {
  const { original, patch, target } = merging;
  for (let at = from; at < before.length; at++) {
    if (!target.resumable.withinBudget()) {
      return target.resumable.defer(() => mergeMembers(merging, before, names, at));
    }
    const name = before[at] as string;
    if (!Object.hasOwn(patch, name)) setMember(target.merged, name, original[name]);
    else if (patch[name] !== null) putMerged(target, name, original[name], patch[name]);
  }
  addMembers(merging, names);
}

function addMembers(merging: Merging, names: readonly string[], from = 0): void {
  const { original, patch, target } = merging;
  for (let at = from; at < names.length; at++) {
    if (!target.resumable.withinBudget()) return target.resumable.defer(() => addMembers(merging, names, at));
    const name = names[at] as string;
    if (!Object.hasOwn(original, name) && patch[name] !== null) putMerged(target, name, undefined, patch[name]);
  }
}

/** What a patch with directives among its members makes. */
function mergeDirected(original: Readonly<JsonObject>, patch: Readonly<JsonObject>, type: Type): JsonObject {
  const merged = { ...original };
  const target: Target = { merged, type, resumable: UNDIVIDED };
  retainKeys(merged, patch);
  const ordered = mergeOrderedLists(merged, patch, type);
  for (const key of Object.keys(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(ELEMENT_ORDER) || ordered.has(key)) continue;
    const value = patch[key];
    if (key.startsWith(DELETE_PRIMITIVES)) {
      deletePrimitives(merged, fieldAfter(DELETE_PRIMITIVES, key) ?? refuse(badPrimitiveList()), value, type);
    } else if (value === null) {
      delete merged[key];
    } else {
      putMerged(target, key, Object.hasOwn(merged, key) ? merged[key] : undefined, value);
    }
  }
  return merged;
}

/** An object as far as it is merged. */
interface Target {
  /** What is merged is put here. */
  readonly merged: JsonObject;
  /** Of the object. */
  readonly type: Type;
  readonly resumable: ResumableWalk;
}

function putMerged({ merged, type, resumable }: Target, key: string, current: unknown, value: unknown): void {
  if (isPlainObject(current) && isPlainObject(value)) {
    const rule = objectRule(type, key);
    setMember(merged, key, rule.strategy === 'replace' ? value : mergeObject(current, value, rule.type, resumable));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    setMember(merged, key, mergeLists(current, value, listRule(type, key)));
  } else {
    const plain = plainValue(value);
    if (plain === undefined) delete merged[key];
    else setMember(merged, key, plain);
  }
}

function followDirective(patch: Readonly<JsonObject>): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === 'replace') return rest;
  if (directive === 'delete') return {};
  throw unknownDirective(directive, patch);
}

/** `$retainKeys` lists all members that stay, those of the patch among them. */
function retainKeys(merged: JsonObject, patch: Readonly<JsonObject>): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const keys = patch[RETAIN_KEYS];
  if (!Array.isArray(keys)) throw badRetainKeys();
  const retained = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch)) {
    const directive = key === RETAIN_KEYS || key.startsWith(DELETE_PRIMITIVES) || key.startsWith(ELEMENT_ORDER);
    if (value !== null && !directive && !retained.has(key)) throw badRetainKeys();
  }
  for (const key of Object.keys(merged)) if (!retained.has(key)) delete merged[key];
}

/** Merges the lists with a `$setElementOrder`, and answers which they are. */
function mergeOrderedLists(merged: JsonObject, patch: Readonly<JsonObject>, type: Type): ReadonlySet<string> {
  const ordered = new Set<string>();
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ELEMENT_ORDER)) continue;
    const order = patch[directive];
    if (!Array.isArray(order)) throw wrongType('[]interface {}', order);
    const key = fieldAfter(ELEMENT_ORDER, directive) ?? refuse(badElementOrder());
    const live = listIn(merged, key);
    const wanted = listIn(patch, key);
    const rule = listRule(type, key);
    checkAgainstOrder(wanted ?? [], order, rule.mergeKey);
    let list: readonly unknown[];
    if (live !== undefined && wanted !== undefined) list = mergeLists(live, wanted, rule);
    else if (live !== undefined) list = live;
    else if (wanted !== undefined) list = withoutDirectives(wanted);
    else continue;
    const element = elementType(live ?? [], wanted ?? []);
    // Items without a key of theirs have no order.
    if (element === MAP && rule.mergeKey === undefined) throw noMergeKey(live?.[0] ?? wanted?.[0], '');
    setMember(merged, key, orderMerged(list, order, live ?? [], rule.mergeKey));
    ordered.add(key);
  }
  return ordered;
}

function listIn(object: Readonly<JsonObject>, key: string): readonly unknown[] | undefined {
  if (!Object.hasOwn(object, key)) return undefined;
  const list = object[key];
  if (!Array.isArray(list)) throw wrongType('[]interface {}', list);
  return list;
}

const withoutDirectives = (list: readonly unknown[]): unknown[] => list.filter((item) => !isDirective(item));

const isDirective = (item: unknown): boolean => isPlainObject(item) && Object.hasOwn(item, DIRECTIVE);

/** The patch's items must stand in the order list, in its order. */
function checkAgainstOrder(list: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  if (list.length === 0 || order.length === 0) return;
  const items =
    mergeKey === undefined ? list : list.filter((item) => !isPlainObject(item) || item[DIRECTIVE] !== 'delete');
  const keyOf = (item: unknown): unknown => (mergeKey === undefined ? item : mergeKeyOf(item, mergeKey));
  let next = 0;
  for (const place of order) {
    // Of what is no item of its own those behind the last place stay, and are out of order.
    while (next < items.length && isDirective(items[next])) next++;
    if (next < items.length && keyOf(items[next]) === keyOf(place)) next++;
  }
  if (next < items.length) {
    throw unexplained(
      `The order in patch list:\n${goValueText(list)}\n doesn't match ${ELEMENT_ORDER} list:\n${goValueText(order)}\n`,
    );
  }
}

function deletePrimitives(merged: JsonObject, key: string, value: unknown, type: Type): void {
  if (value === null) {
    delete merged[key];
    return;
  }
  const current = ownMember(merged, key);
  if (!Array.isArray(current) || !Array.isArray(value)) return;
  const rule = listRule(type, key);
  if (current.length === 0 && value.length === 0) return;
  if (elementType(current, value) === MAP) {
    // Objects are merged, whatever the directive's name says.
    setMember(merged, key, mergeLists(current, value, { ...rule, strategy: 'merge' }));
    return;
  }
  const gone = new Set<unknown>(value);
  setMember(
    merged,
    key,
    current.filter((item) => !gone.has(item)),
  );
}

function mergeLists(original: readonly unknown[], patch: readonly unknown[], rule: MergeRule): unknown[] {
  const { strategy, mergeKey, type } = rule;
  if (strategy !== 'merge') return [...patch];
  if (original.length === 0 && patch.length === 0) return [];
  if (elementType(original, patch) !== MAP) {
    return orderMerged([...new Set([...original, ...patch])], patch, original, undefined);
  }
  if (mergeKey === undefined) throw unexplained('cannot merge lists without merge key for struct');
  const { live, items } = followItemDirectives(original, patch, mergeKey);
  const merged = [...live];
  const places = new Map<unknown, number>();
  for (let at = 0; at < merged.length; at++) {
    const item = merged[at];
    if (isPlainObject(item) && !places.has(item[mergeKey])) places.set(item[mergeKey], at);
  }
  for (const item of items) {
    const key = mergeKeyOf(item, mergeKey);
    const at = places.get(key);
    if (at === undefined) places.set(key, merged.push(item) - 1);
    else merged[at] = mergeObject(merged[at] as JsonObject, item, type);
  }
  return orderMerged(merged, items, live, mergeKey);
}

/** Items that carry a `$patch` delete or replace others; the rest is merged. */
function followItemDirectives(
  original: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
): { live: readonly unknown[]; items: readonly JsonObject[] } {
  let gone: Set<unknown> | undefined;
  let replace = false;
  const items: JsonObject[] = [];
  for (const item of patch as readonly JsonObject[]) {
    if (!Object.hasOwn(item, DIRECTIVE)) {
      items.push(item);
      continue;
    }
    switch (item[DIRECTIVE]) {
      case 'delete': {
        if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
        (gone ??= new Set()).add(item[mergeKey]);
        break;
      }
      case 'replace':
        replace = true;
        break;
      case 'merge':
        throw unexplained('merging lists cannot yet be specified in the patch');
      default:
        throw unknownDirective(item[DIRECTIVE], item);
    }
  }
  if (replace) return { live: items, items: [] };
  if (gone === undefined) return { live: original, items };
  return { live: withoutKeys(original, gone, mergeKey), items };
}

const withoutKeys = (list: readonly unknown[], gone: ReadonlySet<unknown>, mergeKey: string): readonly unknown[] =>
  list.filter((item) => !isPlainObject(item) || !gone.has(item[mergeKey]));

const MAP = 'map[string]interface {}';

// hot: of each list of a patch.
function elementType(left: readonly unknown[], right: readonly unknown[]): string {
  const all = left.length + right.length;
  if (all === 0) throw unexplained('no elements in any of the given slices');
  const first = goTypeName(left.length > 0 ? left[0] : right[0]);
  if (first === '[]interface {}') throw listOfLists();
  for (let at = 1; at < all; at++) {
    if (goTypeName(at < left.length ? left[at] : right[at - left.length]) !== first)
      throw unexplained(`list element types are not identical: ${goValueText([left, right])}`);
  }
  return first;
}

function refuse(error: Error): never {
  throw error;
}
