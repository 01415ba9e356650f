// Objects by chance, for tests that try many.
import type { JsonObject } from '../../machinery/object.js';
import type { StructType, Type } from '../type.js';

const MAX_DEEP = 7;

function some(type: Type, random: () => number, depth: number): unknown {
  switch (type.kind) {
    case 'struct':
      return someStruct(type, random, depth + 1);
    case 'list':
      return Array.from({ length: Math.floor(random() * 3) }, () => some(type.element, random, depth + 1));
    case 'map':
      return Object.fromEntries(
        Array.from({ length: Math.floor(random() * 3) }, () => [
          `k${Math.floor(random() * 9)}`,
          some(type.value, random, depth + 1),
        ]),
      );
    case 'scalar':
      if (type.scalar === 'bool') return random() < 0.5;
      if (['int32', 'int64', 'double'].includes(type.scalar)) return Math.floor(random() * 3);
      return ['', 'a', 'b', null][Math.floor(random() * 4)];
  }
}

export function someStruct(type: StructType, random: () => number, depth: number): JsonObject {
  const object: JsonObject = {};
  const share = depth === 0 ? 0.8 : depth > MAX_DEEP ? 0 : 0.25;
  for (const { json, type: fieldType } of type.fields) {
    if (json !== '' && random() < share) object[json] = random() < 0.05 ? null : some(fieldType, random, depth);
  }
  return object;
}

/** Numbers that are the same in every run. */
export function sequence(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
