// Whether an object has an empty list or map that is `null` once it is stored: kube-apiserver keeps objects as protobuf,
// which knows no difference between an empty list and none, and a member that is always encoded is then `null`.
import type { StructType, Type } from './type.js';
import { isAlwaysEncoded } from './normal-form.js';

// hot: every write. Only members that can hold such a list are looked at, and in most types there are few or none.
export function isStoredAsOther(type: StructType, object: object): boolean {
  return type.unstructured === undefined && inStruct(type, object);
}

interface Member {
  readonly json: string;
  readonly type: Type;
  /** Empty, it is stored as `null`. */
  readonly isAlwaysEncoded: boolean;
  /** There may be such a member below. */
  readonly isDeep: boolean;
}

const membersByType = new WeakMap<StructType, readonly Member[]>();

function inStruct(type: StructType, object: object): boolean {
  let members = membersByType.get(type);
  if (members === undefined) {
    members = lookedAt(type, new Set());
    membersByType.set(type, members);
  }
  for (const member of members) {
    const value = (object as Readonly<Record<string, unknown>>)[member.json];
    if (typeof value !== 'object' || value === null) continue;
    if (member.isAlwaysEncoded && isEmpty(value)) return true;
    if (member.isDeep && inValue(member.type, value)) return true;
  }
  return false;
}

function inValue(type: Type, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  switch (type.kind) {
    case 'struct':
      return inStruct(type, value);
    case 'list':
      return Array.isArray(value) && inOneOf(type.element, value);
    case 'map':
      return inOneOf(type.value, Object.values(value));
    case 'scalar':
      return false;
  }
}

function inOneOf(type: Type, values: readonly unknown[]): boolean {
  for (const value of values) if (inValue(type, value)) return true;
  return false;
}

function isEmpty(value: object): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** Types that are being looked into already count as deep: they hold themselves. */
function lookedAt(type: StructType, open: Set<StructType>): readonly Member[] {
  if (open.has(type)) return [ITSELF];
  open.add(type);
  const members = type.fields
    .map((field) => ({
      json: field.json,
      type: field.type,
      isAlwaysEncoded:
        isAlwaysEncoded(field) && !field.pointer && field.type.kind !== 'struct' && field.type.kind !== 'scalar',
      isDeep: isDeep(field.type, open),
    }))
    .filter((member) => member.isAlwaysEncoded || member.isDeep);
  open.delete(type);
  return members;
}

function isDeep(type: Type, open: Set<StructType>): boolean {
  switch (type.kind) {
    case 'struct':
      return lookedAt(type, open).length > 0;
    case 'list':
      return isDeep(type.element, open);
    case 'map':
      return isDeep(type.value, open);
    case 'scalar':
      return false;
  }
}

const ITSELF: Member = { json: '', type: { kind: 'scalar', scalar: 'string' }, isAlwaysEncoded: false, isDeep: true };
