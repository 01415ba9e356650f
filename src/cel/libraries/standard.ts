// The language's own types, operators and functions.
import { indexOfText } from './find-text.js';
import { ARITHMETIC } from './arithmetic.js';
import { COMPARISONS } from './comparisons.js';
import { CONVERSIONS } from './conversions.js';
import { STANDARD_MACROS } from './macros.js';
import { TIME_FUNCTIONS } from './time.js';
import type { FunctionDeclaration, Library, Overload } from '../library.js';
import { equalValues } from '../run/equality.js';
import { compileRegex, matchesRegex } from '../run/regex.js';
import { characters } from '../syntax/source.js';
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DURATION,
  INT,
  LIST,
  listType,
  MAP,
  mapType,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  typeParam,
  UINT,
} from '../type.js';
import type { CelList, CelMap, Value } from '../value.js';
import { CelError, noSuchOverload } from '../value.js';

const A = typeParam('A');
const B = typeParam('B');
const LIST_OF_A = listType(A);
const MAP_OF_AB = mapType(A, B);

/** Evaluated by the engine itself; the declaration is for the checker. */
const builtIn = (): Value => noSuchOverload();

const operator = (name: string, id: string, parameters: readonly CelType[], result: CelType): FunctionDeclaration => ({
  name,
  overloads: [{ id, parameters, result, call: builtIn }],
});

const sizes: readonly (readonly [string, CelType, (value: never) => Value])[] = [
  ['bytes', BYTES, (bytes: Uint8Array) => BigInt(bytes.length)],
  ['list', LIST_OF_A, (list: CelList) => BigInt(list.size)],
  ['map', MAP_OF_AB, (map: CelMap) => BigInt(map.size)],
  ['string', STRING, (text: string) => BigInt(characters(text))],
];

function contains(element: Value, list: CelList): boolean {
  for (let i = 0; i < list.size; i++) if (equalValues(element, list.at(i)) === true) return true;
  return false;
}

function inMap(key: Value, map: CelMap): Value {
  const found = map.find(key);
  return found instanceof CelError ? found : found !== undefined;
}

function matches(text: string, pattern: string): Value {
  const regex = compileRegex(pattern);
  return regex instanceof CelError ? regex : matchesRegex(regex, text);
}

const textTest = (name: string, id: string, call: (text: string, part: string) => boolean): FunctionDeclaration => ({
  name,
  dispatch: 'plain',
  overloads: [{ id, member: true, parameters: [STRING, STRING], result: BOOL, call }],
});

const sizeOverloads: readonly Overload[] = sizes.flatMap(([name, type, call]) => [
  { id: `size_${name}`, parameters: [type], result: INT, call },
  { id: `${name}_size`, member: true, parameters: [type], result: INT, call },
]);

export const standardLibrary: Library = {
  name: 'standard',
  types: [BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT],
  macros: STANDARD_MACROS,
  functions: [
    operator('_?_:_', 'conditional', [BOOL, A, A], A),
    operator('_&&_', 'logical_and', [BOOL, BOOL], BOOL),
    operator('_||_', 'logical_or', [BOOL, BOOL], BOOL),
    operator('@not_strictly_false', 'not_strictly_false', [BOOL], BOOL),
    operator('_==_', 'equals', [A, A], BOOL),
    operator('_!=_', 'not_equals', [A, A], BOOL),
    {
      name: '!_',
      dispatch: 'plain',
      overloads: [{ id: 'logical_not', parameters: [BOOL], result: BOOL, call: (value: boolean) => !value }],
    },
    {
      name: '_[_]',
      overloads: [
        { id: 'index_list', parameters: [LIST_OF_A, INT], result: A, call: builtIn },
        { id: 'index_map', parameters: [MAP_OF_AB, A], result: B, call: builtIn },
      ],
    },
    {
      name: '@in',
      dispatch: 'plain',
      overloads: [
        { id: 'in_list', parameters: [A, LIST_OF_A], result: BOOL, call: contains },
        { id: 'in_map', parameters: [A, MAP_OF_AB], result: BOOL, call: inMap },
      ],
    },
    { name: 'size', dispatch: 'operand', overloads: sizeOverloads },
    textTest('contains', 'contains_string', (text, part) => indexOfText(text, part) >= 0),
    textTest('endsWith', 'ends_with_string', (text, part) => text.endsWith(part)),
    textTest('startsWith', 'starts_with_string', (text, part) => text.startsWith(part)),
    {
      name: 'matches',
      dispatch: 'operand',
      overloads: [
        { id: 'matches', parameters: [STRING, STRING], result: BOOL, call: matches },
        { id: 'matches_string', member: true, parameters: [STRING, STRING], result: BOOL, call: matches },
      ],
    },
    ...ARITHMETIC,
    ...COMPARISONS,
    ...CONVERSIONS,
    ...TIME_FUNCTIONS,
  ],
};
