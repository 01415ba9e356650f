// Rules of lists and maps as such: how long they may be, and what may not repeat.
import { append } from '../../lib/values/append.js';
import { duplicate, type FieldErrors, type FieldPath, tooMany } from '../../machinery/field-error.js';
import { sortedKeys } from '../core/shared/key-values.js';

export type ItemRule<T> = (item: T, path: FieldPath) => FieldErrors;

const NO_LIMIT = Number.POSITIVE_INFINITY;

export function validateList<T>(
  items: readonly T[] | null | undefined,
  path: FieldPath,
  rule: ItemRule<T>,
  maxSize = NO_LIMIT,
): FieldErrors {
  const list = items ?? [];
  const errors = list.flatMap((item, position) => rule(item, path.index(position)));
  if (list.length > maxSize) errors.push(tooMany(path, list.length, maxSize));
  return errors;
}

export interface SetRules<T> {
  readonly item: ItemRule<T>;
  /** What may not repeat, and the member it stands in when it is not the item itself. */
  readonly key: (item: T) => string;
  readonly keyMember?: string;
  /** What errors show when it is not the key. */
  readonly shownKey?: object;
  readonly maxSize?: number;
}

export function validateSet<T>(
  items: readonly T[] | null | undefined,
  path: FieldPath,
  rules: SetRules<T>,
): FieldErrors {
  const errors = validateList(items, path, rules.item, rules.maxSize);
  const seen = new Set<string>();
  for (const [position, item] of (items ?? []).entries()) {
    const key = rules.key(item);
    const at = path.index(position);
    const keyPath = rules.keyMember === undefined ? at : at.child(rules.keyMember);
    if (seen.has(key)) errors.push(duplicate(keyPath, rules.shownKey ?? key));
    seen.add(key);
  }
  return errors;
}

export interface MapRules<T> {
  readonly key: ItemRule<string>;
  readonly item?: ItemRule<T>;
  /** Longer keys are shown shortened in paths. */
  readonly shownKeyLength: number;
}

export function validateMap<T>(
  map: Readonly<Record<string, T>> | undefined,
  path: FieldPath,
  rules: MapRules<T>,
): FieldErrors {
  const errors: FieldErrors = [];
  for (const key of sortedKeys(map)) {
    const at = path.key(shortened(key, rules.shownKeyLength));
    const item = map?.[key];
    append(errors, rules.key(key, at));
    if (item !== undefined) append(errors, rules.item?.(item, at) ?? []);
  }
  return errors;
}

const ELLIPSIS = '...';

/** The start and the end of a text that is too long to show. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = maxLength - ELLIPSIS.length;
  return text.slice(0, Math.floor((kept + 1) / 2)) + ELLIPSIS + text.slice(text.length - Math.floor(kept / 2));
}
