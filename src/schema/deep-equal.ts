// Equality as the API means it, by type: an unset list or map is an empty one, quantities count by their value.
import { ResumableWalk } from '../lib/scheduling/resumable-walk.js';
import { isPlainObject } from '../lib/values/plain-object.js';
import type { StepGenerator } from '../lib/scheduling/yield.js';
import { compareQuantities } from '../machinery/quantity.js';
import { isAlwaysEncoded, unsetValue } from './normal-form.js';
import type { Field, StructType, Type } from './type.js';
import { fieldsText } from './lazy-fields.js';

export function equalByType(type: Type, left: unknown, right: unknown): boolean {
  if (left === right) return true;
  switch (type.kind) {
    case 'struct':
      return isPlainObject(left) && isPlainObject(right) && equalStructs(type, left, right);
    case 'list':
      return equalLists(type.element, left, right);
    case 'map':
      return equalMaps(type.value, left, right);
    case 'scalar':
      if (type.scalar === 'quantity' && typeof left === 'string' && typeof right === 'string') {
        return compareQuantities(left, right) === 0;
      }
      return equalTrees(left, right);
  }
}

/** Equality of one member of a struct; where the type knows no such member, of its plain values. */
export function equalMember(type: StructType, member: string, left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const field = type.byJson.get(member);
  if (field === undefined) return equalTrees(left, right);
  return equalByType(field.type, orUnset(field, left), orUnset(field, right));
}

function equalStructs(type: StructType, left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  return type.fields.every((field) => {
    const a = left[field.json];
    const b = right[field.json];
    if (a === b) return true;
    return equalByType(field.type, orUnset(field, a), orUnset(field, b));
  });
}

function orUnset(field: Field, value: unknown): unknown {
  if (value !== undefined) return value;
  return isAlwaysEncoded(field) || !field.pointer ? unsetValue(field) : null;
}

function equalLists(element: Type, left: unknown, right: unknown): boolean {
  const a = Array.isArray(left) ? left : [];
  const b = Array.isArray(right) ? right : [];
  return a.length === b.length && a.every((item, index) => equalByType(element, item, b[index]));
}

function equalMaps(value: Type, left: unknown, right: unknown): boolean {
  const a = isPlainObject(left) ? left : {};
  const b = isPlainObject(right) ? right : {};
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalByType(value, a[key], b[key]))
  );
}

/** Plain equality of values without a type. */
export function equalTrees(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, i) => equalTrees(item, right[i]));
  }
  if (!isPlainObject(left) || !isPlainObject(right) || Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equalTrees(left[key], right[key]));
}

/** Equality of values whose members also stand in the same order, so that they have the same encoding. */
export function isSameTree(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  // What is no list or literal, as a number that is kept as text, is the same only as itself.
  const prototype: unknown = Object.getPrototypeOf(left);
  if (prototype !== Object.getPrototypeOf(right)) return false;
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false;
  const names = Object.keys(left);
  const others = Object.keys(right);
  if (names.length !== others.length) return false;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    if (name !== others[at] || !isSameTree(memberOf(left, name), memberOf(right, name))) return false;
  }
  return true;
}

const memberOf = (tree: object, name: string): unknown => (tree as Readonly<Record<string, unknown>>)[name];

/** equalTrees() in steps, for large values. */
export function* equalTreesSteps(left: unknown, right: unknown): StepGenerator<boolean> {
  const comparison = new Comparison();
  comparison.compare(left, right);
  if (comparison.resumable.hasDeferred) yield* comparison.resumable.resume();
  return comparison.isEqual;
}

class Comparison {
  readonly resumable = new ResumableWalk();
  isEqual = true;

  compare(left: unknown, right: unknown): void {
    if (left === right) return;
    if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) return this.differ();
      return this.resumable.each(left.length, (at) => this.compare(left[at], right[at]));
    }
    if (!isPlainObject(left) || !isPlainObject(right) || Array.isArray(right)) return this.differ();
    const text = fieldsText(left);
    if (text !== undefined && text === fieldsText(right)) return;
    const names = this.resumable.names(left);
    if (names.length !== this.resumable.names(right).length) return this.differ();
    this.resumable.each(names.length, (at) => {
      const name = names[at] as string;
      if (Object.hasOwn(right, name)) this.compare(left[name], right[name]);
      else this.differ();
    });
  }

  private differ(): void {
    this.isEqual = false;
    this.resumable.end();
  }
}
