// Defaults that are written in the catalogue as values. What depends on other fields is the kinds' own business.
import { isPlainObject } from '../lib/plain-object.js';
import { deepCopy } from './deep-copy.js';
import type { Field, StructType, Type } from './type.js';

/** Sets, in place, every member that is unset and has a literal default. */
export function applyLiteralDefaults(type: StructType, object: Record<string, unknown>): void {
  for (const { field, isDefault, isDeep } of plansOf(type)) {
    const value = object[field.json];
    // The zero value of a member that is no pointer counts as unset.
    if (isDefault && (value === undefined || value === null || (!field.pointer && (value === '' || value === 0)))) {
      object[field.json] = deepCopy(field.default);
    } else if (isDeep) descend(field.type, value);
  }
}

function descend(type: Type, value: unknown): void {
  if (value === undefined || value === null) return;
  if (type.kind === 'list' && Array.isArray(value)) for (const item of value) descend(type.element, item);
  else if (type.kind === 'map' && isPlainObject(value)) {
    for (const member of Object.values(value)) descend(type.value, member);
  } else if (type.kind === 'struct' && isPlainObject(value)) applyLiteralDefaults(type, value);
}

interface Plan {
  readonly field: Field;
  readonly isDefault: boolean;
  readonly isDeep: boolean;
}

const plans = new WeakMap<StructType, readonly Plan[]>();

/** The fields that have a default, or lead to a type that has. */
function plansOf(type: StructType): readonly Plan[] {
  let known = plans.get(type);
  if (known === undefined) {
    known = type.fields
      .map((field) => ({
        field,
        isDefault: field.default !== undefined,
        isDeep: leadsToDefault(field.type, new Set()),
      }))
      .filter(({ isDefault, isDeep }) => isDefault || isDeep);
    plans.set(type, known);
  }
  return known;
}

function leadsToDefault(type: Type, seen: Set<StructType>): boolean {
  switch (type.kind) {
    case 'scalar':
      return false;
    case 'list':
      return leadsToDefault(type.element, seen);
    case 'map':
      return leadsToDefault(type.value, seen);
    case 'struct':
      if (seen.has(type)) return false;
      seen.add(type);
      return type.fields.some((field) => field.default !== undefined || leadsToDefault(field.type, seen));
  }
}
