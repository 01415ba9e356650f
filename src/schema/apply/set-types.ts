// What a type says about a field set that was made without it.
import type { Field, StructType, Type } from '../type.js';
import { FieldSet } from './field-set.js';
import { fieldName } from './path-element.js';
import { isDeduced, type Member, memberOf, shapeOf } from './shape.js';

/** Adds the structs on the way to each path, so that a set difference sees a struct as gone with its last field. */
export function ensureNamedFieldsAreMembers(set: FieldSet, type: Type | undefined, field?: Field): FieldSet {
  return set.map((element, member, below) => {
    const inner = step(type, field, element);
    return [member || inner.field !== undefined, ensureNamedFieldsAreMembers(below, inner.type, inner.field)];
  });
}

/** Where the type now says one value and the set has parts of it, the set gets the whole. */
// hot: on every update, for every manager; most sets are shared by many objects.
export function reconcileWithType(set: FieldSet, type: StructType): FieldSet {
  const known = reconciled.get(set);
  if (known?.type === type) return known.set;
  const pruned = fitToType(set, type, undefined);
  reconciled.set(set, { type, set: pruned });
  return pruned;
}

const reconciled = new WeakMap<FieldSet, { readonly type: StructType; readonly set: FieldSet }>();

function fitToType(set: FieldSet, type: Type, field: Field | undefined): FieldSet {
  return set.map((element, member, below) => {
    const inner = step(type, field, element);
    if (inner.type === undefined || isDeduced(inner.type)) return [member, below];
    const shape = shapeOf(inner.type, inner.field, undefined);
    if (shape.kind !== 'scalar' && shape.atomic) return [true, EMPTY];
    return [member, fitToType(below, inner.type, inner.field)];
  });
}

const EMPTY = new FieldSet();
const NOWHERE: Omit<Member, 'element'> = { type: undefined, field: undefined };

function step(type: Type | undefined, field: Field | undefined, element: string): Omit<Member, 'element'> {
  if (type === undefined) return NOWHERE;
  const name = fieldName(element);
  const shape = shapeOf(type, field, name === undefined ? [] : {});
  if (name !== undefined) return shape.kind === 'map' ? memberOf(shape, name) : NOWHERE;
  return shape.kind === 'list' && element.startsWith('k:') ? { type: shape.element, field: undefined } : NOWHERE;
}
