// What calls cost at run time, unless a library or the environment says otherwise.
import { characters } from '../syntax/source.js';
import { CelList, CelMap, OpaqueValue, Optional } from '../value.js';
import type { Value } from '../value.js';

export const LIST_COST = 10;
export const MAP_COST = 30;
export const STRUCT_COST = 40;
/** Per character of a string that is read once. */
export const TRAVERSAL_FACTOR = 0.1;
/** Per character of a regular expression. */
export const REGEX_FACTOR = 0.25;

export type CallCost = (values: readonly Value[], result: Value) => number;

const traversal = (size: number): number => Math.ceil(size * TRAVERSAL_FACTOR);

const readFirst: CallCost = ([text = null]) => traversal(actualSize(text));
const readShorter: CallCost = ([a = null, b = null]) => traversal(Math.min(actualSize(a), actualSize(b)));
const readBoth: CallCost = ([a = null, b = null]) => traversal(actualSize(a) + actualSize(b));

const COSTS: Readonly<Record<string, CallCost>> = {
  starts_with_string: readFirst,
  ends_with_string: readFirst,
  string_to_bytes: readFirst,
  bytes_to_string: readFirst,
  strings_quote: readFirst,
  string_format: readFirst,
  in_list: ([, list = null]) => actualSize(list),
  less_string: readShorter,
  greater_string: readShorter,
  less_equals_string: readShorter,
  greater_equals_string: readShorter,
  less_bytes: readShorter,
  greater_bytes: readShorter,
  less_equals_bytes: readShorter,
  greater_equals_bytes: readShorter,
  equals: readShorter,
  not_equals: readShorter,
  add_string: readBoth,
  add_bytes: readBoth,
  matches_string: ([text = null, pattern = null]) =>
    Math.ceil((1 + actualSize(text)) * TRAVERSAL_FACTOR) * Math.ceil(actualSize(pattern) * REGEX_FACTOR),
  contains_string: ([text = null, part = null]) => traversal(actualSize(text)) * traversal(actualSize(part)),
};

/** Undefined where a call costs one, whatever its arguments. */
export const defaultCallCost = (overload: string): CallCost | undefined => COSTS[overload];

/** Characters, bytes, elements or entries; one for everything else. */
export function actualSize(value: Value): number {
  if (typeof value === 'string') return characters(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional && value.value !== undefined) return actualSize(value.value);
  if (value instanceof OpaqueValue) return value.costSize ?? 1;
  return 1;
}
