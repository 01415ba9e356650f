// The types that mutations make: `Object{spec: Object.spec{…}}` to apply, and `JSONPatch{op: …, path: …}` operations.
import type { ObjectTypeDeclaration, ObjectTypes } from '../environment.js';
import { equalValues } from '../run/equality.js';
import { type CelType, DYN, STRING, objectType } from '../type.js';
import { EntryMap, OpaqueValue, type Value } from '../value.js';

export const APPLIED_OBJECT = objectType('Object');
export const JSON_PATCH = objectType('JSONPatch');

/** An object that an expression made. */
export class MadeObject extends OpaqueValue {
  constructor(
    readonly type: CelType,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super();
  }
  override find(field: string): Value | undefined {
    return this.fields.get(field);
  }
  equal(other: Value): Value {
    if (!(other instanceof MadeObject) || other.type.name !== this.type.name) return false;
    return equalValues(new EntryMap(this.fields), new EntryMap(other.fields));
  }
  override isZero(): boolean {
    return this.fields.size === 0;
  }
}

const PATCH_FIELDS: ReadonlyMap<string, CelType> = new Map([
  ['op', STRING],
  ['path', STRING],
  ['from', STRING],
  ['value', DYN],
]);

/** The types of `Object` and of its parts know every field: what the object's schema says is asked when it is applied. */
export const patchTypes: ObjectTypes = {
  find(name) {
    if (name === JSON_PATCH.name) return declaration(JSON_PATCH, (field) => PATCH_FIELDS.get(field));
    if (name !== APPLIED_OBJECT.name && !name.startsWith(`${APPLIED_OBJECT.name}.`)) return undefined;
    return declaration(objectType(name), () => DYN);
  },
};

const declaration = (type: CelType, field: ObjectTypeDeclaration['field']): ObjectTypeDeclaration => ({
  type,
  field,
  construct: (fields) => new MadeObject(type, fields),
});
