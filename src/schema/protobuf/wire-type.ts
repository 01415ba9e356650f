import type { Type } from '../type.js';

/** How a value lies on the wire: 0 a varint, 1 eight bytes, 2 bytes with their length. */
export function wireTypeOf(type: Type): number {
  if (type.kind !== 'scalar') return 2;
  switch (type.scalar) {
    case 'bool':
    case 'int32':
    case 'int64':
      return 0;
    case 'double':
      return 1;
    default:
      return 2;
  }
}
