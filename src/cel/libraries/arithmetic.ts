import type { FunctionDeclaration } from '../library.js';
import {
  addDuration,
  divideInts,
  divideUints,
  duration,
  int,
  moduloInts,
  moduloUints,
  subtractTimes,
  uint,
} from '../run/arithmetic.js';
import { checkElements, checkCharacters } from '../run/size-limits.js';
import { BYTES, DOUBLE, DURATION, INT, listType, STRING, TIMESTAMP, typeParam, UINT } from '../type.js';
import type { CelList, Duration, Timestamp, Uint, Value } from '../value.js';

/** Where the types are not known before, adding costs one whatever is added: a few steps could make a text without end. */
function addTexts(a: string, b: string): string {
  checkCharacters(a.length + b.length);
  return a + b;
}

function addBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  checkCharacters(a.length + b.length);
  return new Uint8Array(Buffer.concat([a, b]));
}

/** Adding lists always costs one. */
function addLists(a: CelList, b: CelList): Value {
  checkElements(a.size + b.size);
  return a.add(b);
}

const LIST_OF_A = listType(typeParam('A'));

export const ARITHMETIC: readonly FunctionDeclaration[] = [
  {
    name: '_+_',
    dispatch: 'operand',
    overloads: [
      {
        id: 'add_bytes',
        parameters: [BYTES, BYTES],
        result: BYTES,
        call: addBytes,
      },
      { id: 'add_double', parameters: [DOUBLE, DOUBLE], result: DOUBLE, call: (a: number, b: number) => a + b },
      {
        id: 'add_duration_duration',
        parameters: [DURATION, DURATION],
        result: DURATION,
        call: (a: Duration, b: Duration) => duration(a.nanos + b.nanos),
      },
      {
        id: 'add_duration_timestamp',
        parameters: [DURATION, TIMESTAMP],
        result: TIMESTAMP,
        call: (a: Duration, b: Timestamp) => addDuration(b, a, 1n),
      },
      {
        id: 'add_timestamp_duration',
        parameters: [TIMESTAMP, DURATION],
        result: TIMESTAMP,
        call: (a: Timestamp, b: Duration) => addDuration(a, b, 1n),
      },
      { id: 'add_int64', parameters: [INT, INT], result: INT, call: (a: bigint, b: bigint) => int(a + b) },
      {
        id: 'add_list',
        parameters: [LIST_OF_A, LIST_OF_A],
        result: LIST_OF_A,
        call: addLists,
      },
      { id: 'add_string', parameters: [STRING, STRING], result: STRING, call: addTexts },
      { id: 'add_uint64', parameters: [UINT, UINT], result: UINT, call: (a: Uint, b: Uint) => uint(a.value + b.value) },
    ],
  },
  {
    name: '_-_',
    dispatch: 'operand',
    overloads: [
      { id: 'subtract_double', parameters: [DOUBLE, DOUBLE], result: DOUBLE, call: (a: number, b: number) => a - b },
      {
        id: 'subtract_duration_duration',
        parameters: [DURATION, DURATION],
        result: DURATION,
        call: (a: Duration, b: Duration) => duration(a.nanos - b.nanos),
      },
      { id: 'subtract_int64', parameters: [INT, INT], result: INT, call: (a: bigint, b: bigint) => int(a - b) },
      {
        id: 'subtract_timestamp_duration',
        parameters: [TIMESTAMP, DURATION],
        result: TIMESTAMP,
        call: (a: Timestamp, b: Duration) => addDuration(a, b, -1n),
      },
      {
        id: 'subtract_timestamp_timestamp',
        parameters: [TIMESTAMP, TIMESTAMP],
        result: DURATION,
        call: subtractTimes,
      },
      {
        id: 'subtract_uint64',
        parameters: [UINT, UINT],
        result: UINT,
        call: (a: Uint, b: Uint) => uint(a.value - b.value),
      },
    ],
  },
  {
    name: '_*_',
    dispatch: 'operand',
    overloads: [
      { id: 'multiply_double', parameters: [DOUBLE, DOUBLE], result: DOUBLE, call: (a: number, b: number) => a * b },
      { id: 'multiply_int64', parameters: [INT, INT], result: INT, call: (a: bigint, b: bigint) => int(a * b) },
      {
        id: 'multiply_uint64',
        parameters: [UINT, UINT],
        result: UINT,
        call: (a: Uint, b: Uint) => uint(a.value * b.value),
      },
    ],
  },
  {
    name: '_/_',
    dispatch: 'operand',
    overloads: [
      { id: 'divide_double', parameters: [DOUBLE, DOUBLE], result: DOUBLE, call: (a: number, b: number) => a / b },
      { id: 'divide_int64', parameters: [INT, INT], result: INT, call: divideInts },
      { id: 'divide_uint64', parameters: [UINT, UINT], result: UINT, call: divideUints },
    ],
  },
  {
    name: '_%_',
    dispatch: 'operand',
    overloads: [
      { id: 'modulo_int64', parameters: [INT, INT], result: INT, call: moduloInts },
      { id: 'modulo_uint64', parameters: [UINT, UINT], result: UINT, call: moduloUints },
    ],
  },
  {
    name: '-_',
    dispatch: 'operand',
    overloads: [
      { id: 'negate_double', parameters: [DOUBLE], result: DOUBLE, call: (a: number) => -a },
      { id: 'negate_int64', parameters: [INT], result: INT, call: (a: bigint) => int(-a) },
    ],
  },
];
