// Optional values.
import { bindName } from './macros.js';
import type { ExpressionBuilder, Library, Macro } from '../library.js';
import { MacroError } from '../library.js';
import { plainText } from '../run/format-value.js';
import { isZeroValue } from '../run/zero-value.js';
import type { Expr } from '../syntax/expression.js';
import { BOOL, DYN, INT, listType, mapType, OPTIONAL, optionalType, STRING, typeParam } from '../type.js';
import type { CelList, Value } from '../value.js';
import { ArrayList, CelError, noSuchOverload, Optional } from '../value.js';

const K = typeParam('K');
const V = typeParam('V');
const OPTIONAL_V = optionalType(V);
const LIST_V = listType(V);
const MAP_KV = mapType(K, V);

/** Evaluated by the engine itself; the declaration is for the checker. */
const builtIn = (): Value => noSuchOverload();

/** `target.name(variable, body)`, with the body wrapped where the result is not optional by itself. */
const mapping = (name: string, wrap: (build: ExpressionBuilder, body: Expr) => Expr): Macro => ({
  name,
  receiver: true,
  arguments: 2,
  expand: (build, target, [variable, body]) => {
    if (target === undefined || body === undefined) return undefined;
    if (variable?.kind !== 'ident') {
      return new MacroError(`${name}() variable name must be a simple identifier`, variable);
    }
    const value = build.memberCall('value', build.copy(target));
    return build.call(
      '_?_:_',
      build.memberCall('hasValue', target),
      wrap(build, bindName(build, variable.name, value, body)),
      build.call('optional.none'),
    );
  },
});

function unwrap(list: CelList): Value {
  const values: Value[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) return new CelError(`value ${plainText(item)} is not optional`);
    if (item.value !== undefined) values.push(item.value);
  }
  return new ArrayList(values);
}

const element = (list: CelList, index: number): Value =>
  list.size === 0 ? Optional.none : Optional.of(list.at(index));

export const optionalLibrary: Library = {
  name: 'optional',
  types: [OPTIONAL],
  macros: [
    mapping('optMap', (build, body) => build.call('optional.of', body)),
    mapping('optFlatMap', (_, body) => body),
  ],
  functions: [
    {
      name: 'optional.of',
      overloads: [
        { id: 'optional_of', parameters: [V], result: OPTIONAL_V, call: (value: Value) => Optional.of(value) },
      ],
    },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [
        {
          id: 'optional_ofNonZeroValue',
          parameters: [V],
          result: OPTIONAL_V,
          call: (value: Value) => (isZeroValue(value) ? Optional.none : Optional.of(value)),
        },
      ],
    },
    {
      name: 'optional.none',
      overloads: [{ id: 'optional_none', parameters: [], result: OPTIONAL_V, call: () => Optional.none }],
    },
    {
      name: 'value',
      overloads: [
        {
          id: 'optional_value',
          member: true,
          parameters: [OPTIONAL_V],
          result: V,
          call: ({ value }: Optional) => (value === undefined ? new CelError('optional.none() dereference') : value),
        },
      ],
    },
    {
      name: 'hasValue',
      overloads: [
        {
          id: 'optional_hasValue',
          member: true,
          parameters: [OPTIONAL_V],
          result: BOOL,
          call: (optional: Optional) => optional.value !== undefined,
        },
      ],
    },
    {
      name: 'or',
      overloads: [
        {
          id: 'optional_or_optional',
          member: true,
          parameters: [OPTIONAL_V, OPTIONAL_V],
          result: OPTIONAL_V,
          call: builtIn,
        },
      ],
    },
    {
      name: 'orValue',
      overloads: [
        { id: 'optional_orValue_value', member: true, parameters: [OPTIONAL_V, V], result: V, call: builtIn },
      ],
    },
    {
      name: '_?._',
      overloads: [{ id: 'select_optional_field', parameters: [DYN, STRING], result: OPTIONAL_V, call: builtIn }],
    },
    {
      name: '_[?_]',
      overloads: [
        { id: 'list_optindex_optional_int', parameters: [LIST_V, INT], result: OPTIONAL_V, call: builtIn },
        {
          id: 'optional_list_optindex_optional_int',
          parameters: [optionalType(LIST_V), INT],
          result: OPTIONAL_V,
          call: builtIn,
        },
        { id: 'map_optindex_optional_value', parameters: [MAP_KV, K], result: OPTIONAL_V, call: builtIn },
        {
          id: 'optional_map_optindex_optional_value',
          parameters: [optionalType(MAP_KV), K],
          result: OPTIONAL_V,
          call: builtIn,
        },
      ],
    },
    {
      name: '_[_]',
      overloads: [
        { id: 'optional_list_index_int', parameters: [optionalType(LIST_V), INT], result: OPTIONAL_V, call: builtIn },
        { id: 'optional_map_index_value', parameters: [optionalType(MAP_KV), K], result: OPTIONAL_V, call: builtIn },
      ],
    },
    {
      name: 'last',
      overloads: [
        {
          id: 'list_last',
          member: true,
          parameters: [LIST_V],
          result: OPTIONAL_V,
          call: (list: CelList) => element(list, list.size - 1),
        },
      ],
    },
    {
      name: 'first',
      overloads: [
        {
          id: 'list_first',
          member: true,
          parameters: [LIST_V],
          result: OPTIONAL_V,
          call: (list: CelList) => element(list, 0),
        },
      ],
    },
    {
      name: 'optional.unwrap',
      overloads: [{ id: 'optional_unwrap', parameters: [listType(OPTIONAL_V)], result: LIST_V, call: unwrap }],
    },
    {
      name: 'unwrapOpt',
      overloads: [
        { id: 'optional_unwrapOpt', member: true, parameters: [listType(OPTIONAL_V)], result: LIST_V, call: unwrap },
      ],
    },
  ],
};
