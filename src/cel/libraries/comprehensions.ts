// Loops with two variables, and names bound to values.
import { BIND_MACRO, TWO_VARIABLE_MACROS } from './macros.js';
import type { Library } from '../library.js';
import { plainText } from '../run/format-value.js';
import { MutableMap } from '../run/mutable.js';
import { mapType, typeParam } from '../type.js';
import type { CelMap, Value } from '../value.js';
import { CelError, EntryMap } from '../value.js';

const MAP_KV = mapType(typeParam('K'), typeParam('V'));

/** The map with one more entry; a map that a macro is building grows in place. */
function insert(map: CelMap, key: Value, value: Value): EntryMap | CelError {
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${plainText(key)} already exists`);
  const target = map instanceof MutableMap ? map : copyOf(map);
  target.set(key, value);
  return target;
}

function copyOf(map: CelMap): EntryMap {
  const copy = new EntryMap();
  for (const key of map.keys()) copy.set(key, map.find(key) ?? null);
  return copy;
}

function insertAll(map: CelMap, more: CelMap): Value {
  let target: CelMap = map;
  for (const key of more.keys()) {
    const next = insert(target, key, more.find(key) ?? null);
    if (next instanceof CelError) return next;
    target = next;
  }
  return target;
}

export const twoVariableLibrary: Library = {
  name: 'two-variable comprehensions',
  macros: TWO_VARIABLE_MACROS,
  functions: [
    {
      name: 'cel.@mapInsert',
      overloads: [
        {
          id: '@mapInsert_map_key_value',
          parameters: [MAP_KV, typeParam('K'), typeParam('V')],
          result: MAP_KV,
          call: insert,
        },
        { id: '@mapInsert_map_map', parameters: [MAP_KV, MAP_KV], result: MAP_KV, call: insertAll },
      ],
    },
  ],
};

export const bindingsLibrary: Library = { name: 'bindings', macros: [BIND_MACRO] };
