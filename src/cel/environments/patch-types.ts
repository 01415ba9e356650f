// The types that mutations make: `Object{spec: Object.spec{…}}` to apply, and `JSONPatch{op: …, path: …}` operations.
import type { ObjectTypeDeclaration, ObjectTypes } from '../environment.js';
import { equalValues } from '../run/equality.js';
import { CelType, DYN, STRING, objectType } from '../type.js';
import { CelError, EntryMap, OpaqueValue, typeOf, type Value } from '../value.js';

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

/** The type kube-apiserver assumes for any other field of a patch: no value has this type, and it has no name to show. */
const NO_TYPE = new CelType('opaque', '');

/** The types of `Object` and of its parts know every field: the object's schema is checked when the patch is applied. */
export const patchTypes: ObjectTypes = {
  find(name) {
    if (name === JSON_PATCH.name) return PATCH_DECLARATION;
    if (name !== APPLIED_OBJECT.name && !name.startsWith(`${APPLIED_OBJECT.name}.`)) return undefined;
    const type = objectType(name);
    return { type, field: () => DYN, construct: (fields) => new MadeObject(type, fields) };
  },
};

const PATCH_DECLARATION: ObjectTypeDeclaration = {
  type: JSON_PATCH,
  field: (name) => PATCH_FIELDS.get(name) ?? NO_TYPE,
  construct(fields) {
    for (const [name, value] of fields) {
      const type = PATCH_FIELDS.get(name);
      if (type === undefined) return new CelError(`unexpected JSONPatchType field: ${name}`);
      if (type === STRING && typeof value !== 'string') {
        return new CelError(`unexpected type ${typeOf(value).name} for JSONPatchType '${name}' field`);
      }
    }
    return new MadeObject(JSON_PATCH, fields);
  },
};
