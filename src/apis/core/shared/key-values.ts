// What config maps and secrets have in common: a bag of named values that may be frozen.
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, forbidden } from '../../../machinery/field-error.js';
import { wasExplicitEmpty } from '../../../machinery/explicit-empty.js';

export const MAX_DATA_BYTES = 1024 * 1024;

const FROZEN = 'field is immutable when `immutable` is set';

export const sortedKeys = (map: Readonly<Record<string, unknown>> | null | undefined): string[] =>
  Object.keys(map ?? {}).sort();

/** How many bytes a base64 text stands for. */
export function base64Length(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

interface Freezable {
  immutable?: boolean;
}

/** A frozen object stays frozen, with the members named. Those `filledIn` are there, if empty, where nobody set them. */
export function validateFrozen<T extends Freezable>(
  object: Readonly<T>,
  old: Readonly<T>,
  members: readonly (keyof T & string)[],
  filledIn?: keyof T & string,
): FieldErrors {
  if (old.immutable !== true) return [];
  const errors: FieldErrors = [];
  if (object.immutable !== true) errors.push(forbidden(FieldPath.of('immutable'), FROZEN));
  for (const member of members) {
    // One that is empty is another than none.
    const emptied = member !== filledIn && old[member] === undefined && wasExplicitEmpty(object, member);
    if (emptied || !deepEqual(object[member], old[member])) errors.push(forbidden(FieldPath.of(member), FROZEN));
  }
  return errors;
}
