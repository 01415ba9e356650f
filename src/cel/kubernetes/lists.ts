// Lists of things that can be compared, added and found.
import { type Overload, type Library } from '../library.js';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  STRING,
  TIMESTAMP,
  UINT,
  listType,
  typeParam,
} from '../type.js';
import { duration, int, uint } from '../run/arithmetic.js';
import { compareValues, equalValues } from '../run/equality.js';
import { CelError, type CelList, Duration, Uint, type Value, noSuchOverload, typeOf } from '../value.js';

const SUMMABLE: readonly (readonly [string, CelType, Value])[] = [
  ['int', INT, 0n],
  ['uint', UINT, new Uint(0n)],
  ['double', DOUBLE, 0],
  ['duration', DURATION, new Duration(0n)],
];
const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

const A = typeParam('A');
const finding = { member: true, parameters: [listType(A), A], result: INT } as const;

export const listsLibrary: Library = {
  name: 'kubernetes.lists',
  functions: [
    {
      name: 'isSorted',
      overloads: COMPARABLE.map(([name, type]) => on(type, `list_${name}_is_sorted_bool`, BOOL, isSorted)),
    },
    {
      name: 'sum',
      overloads: SUMMABLE.map(([name, type, zero]) =>
        on(type, `list_${name}_sum_${name}`, type, (list) => sum(list, zero)),
      ),
    },
    {
      name: 'max',
      overloads: COMPARABLE.map(([name, type]) => on(type, `list_${name}_max_${name}`, type, extreme('max', -1))),
    },
    {
      name: 'min',
      overloads: COMPARABLE.map(([name, type]) => on(type, `list_${name}_min_${name}`, type, extreme('min', 1))),
    },
    {
      name: 'indexOf',
      overloads: [
        { ...finding, id: 'list_a_index_of_int', call: (list: CelList, item: Value) => indexOf(list, item, 1) },
      ],
    },
    {
      name: 'lastIndexOf',
      overloads: [
        { ...finding, id: 'list_a_last_index_of_int', call: (list: CelList, item: Value) => indexOf(list, item, -1) },
      ],
    },
  ],
};

function on(element: CelType, id: string, result: CelType, call: (list: CelList) => Value): Overload {
  return { id, member: true, parameters: [listType(element)], result, call };
}

function isSorted(list: CelList): Value {
  let previous: Value | undefined;
  for (const value of list) {
    const fault = incomparable(value);
    if (fault !== undefined) return fault;
    if (previous !== undefined && compareValues(previous, value) === 1) return false;
    previous = value;
  }
  return true;
}

/** Why there is no order with others; undefined where there is. */
function incomparable(value: Value): CelError | undefined {
  if (value instanceof CelError) return value;
  return COMPARABLE.some(([, { kind }]) => kind === typeOf(value).kind) ? undefined : noSuchOverload();
}

/** `replaceWhen` is how the best so far compares with a better one. */
function extreme(name: string, replaceWhen: -1 | 1): (list: CelList) => Value {
  return (list) => {
    let best: Value | undefined;
    for (const value of list) {
      const fault = incomparable(value);
      if (fault !== undefined) return fault;
      if (best === undefined || compareValues(best, value) === replaceWhen) best = value;
    }
    return best ?? new CelError(`${name} called on empty list`);
  };
}

function sum(list: CelList, zero: Value): Value {
  let total = zero;
  for (const value of list) {
    total = value instanceof CelError ? value : add(total, value);
    if (total instanceof CelError) return total;
  }
  return total;
}

function indexOf(list: CelList, item: Value, step: 1 | -1): Value {
  for (let i = step === 1 ? 0 : list.size - 1; i >= 0 && i < list.size; i += step) {
    if (equalValues(list.at(i), item) === true) return BigInt(i);
  }
  return -1n;
}

function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(a + b);
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (a instanceof Uint && b instanceof Uint) return uint(a.value + b.value);
  if (a instanceof Duration && b instanceof Duration) return duration(a.nanos + b.nanos);
  return noSuchOverload();
}
