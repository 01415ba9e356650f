import { CelType } from '../type.js';
import type { CelList, Value } from '../value.js';
import { Uint } from '../value.js';

/** A quick test for `x in [constants]`; undefined when an element is not a plain value. */
export function membership(list: CelList): ((value: Value) => boolean) | undefined {
  const plain = new Set<string | boolean | bigint | number>();
  for (const element of list) {
    const key = plainKey(element);
    if (key === undefined) return undefined;
    plain.add(key);
  }
  return (value) => {
    const key = plainKey(value);
    return key !== undefined && plain.has(key);
  };
}

/** Equal numbers of all kinds have one key: whole numbers are bigint, others number. */
function plainKey(value: Value): string | boolean | bigint | number | undefined {
  if (typeof value === 'number')
    return Number.isInteger(value) ? BigInt(value) : Number.isNaN(value) ? undefined : value;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  if (value instanceof CelType) return undefined;
  return undefined;
}
