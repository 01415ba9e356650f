import type { JsonObject } from '../../machinery/object.js';
import { zeroStruct } from '../normal-form.js';
import type { StructType } from '../type.js';

/** An object of a type that nothing was set in: what a new object is compared with. Shared: read only. */
export function zeroOf(type: StructType): Readonly<JsonObject> {
  let zero = zeros.get(type);
  if (zero === undefined) {
    zero = zeroStruct(type);
    zeros.set(type, zero);
  }
  return zero;
}

const zeros = new WeakMap<StructType, Readonly<JsonObject>>();
