// What lists can do beside the language's own functions: slices, flattening, sorting, ranges.
import { bindName } from './macros.js';
import { STANDARD_MACROS } from './macros.js';
import { actualSize, LIST_COST, TRAVERSAL_FACTOR } from '../cost/actual-cost.js';
import { fixed, plus, times, timesFactor, UNBOUNDED } from '../cost/estimates.js';
import type { CallEstimate, CallToEstimate, Estimate, EstimatedNode, Library, Macro, Overload } from '../library.js';
import { MacroError } from '../library.js';
import { compareValues } from '../run/equality.js';
import { Cancelled, type Pace } from '../run/frame.js';
import { goName } from '../run/go-name.js';
import { checkElements } from '../run/size-limits.js';
import { ValueIndex } from '../run/value-index.js';
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  LIST,
  listType,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../type.js';
import type { Value } from '../value.js';
import { ArrayList, CelError, CelList, typeOf } from '../value.js';

const T = typeParam('T');
const LIST_T = listType(T);
const COMPARABLE: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
const ASSOCIATED = '@sortByAssociatedKeys';

function slice(list: CelList, start: bigint, end: bigint): Value {
  const why = (text: string): CelError => new CelError(`cannot slice(${start}, ${end}), ${text}`);
  if (start < 0n || end < 0n) return why('negative indexes not supported');
  if (start > end) return why('start index must be less than or equal to end index');
  if (end > BigInt(list.size)) return why(`list is length ${list.size}`);
  const part: Value[] = [];
  for (let i = Number(start); i < Number(end); i++) part.push(list.at(i));
  return new ArrayList(part);
}

function flatten(list: Value, depth: Value): Value {
  if (!(list instanceof CelList)) return new CelError(`no such overload: ${typeOf(list).name}.flatten(int)`);
  if (typeof depth !== 'bigint') return new CelError(`no such overload: list.flatten(${typeOf(depth).name})`);
  if (depth < 0n) return new CelError('level must be non-negative');
  const flat: Value[] = [];
  const visit = (items: CelList, level: bigint): void => {
    for (const item of items) {
      if (item instanceof CelList && level > 0n) visit(item, level - 1n);
      else flat.push(item);
    }
  };
  visit(list, depth);
  return new ArrayList(flat);
}

function range(count: bigint): Value {
  const length = Math.max(0, Number(count));
  checkElements(length);
  return new ArrayList(Array.from({ length }, (_, i) => BigInt(i)));
}

function sortByKeys(list: CelList, keys: CelList, pace: Pace): Value {
  if (list.size !== keys.size) {
    return new CelError(
      `${ASSOCIATED}() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    );
  }
  if (list.size === 0) return list;
  const kind = typeOf(keys.at(0)).name;
  if (!COMPARABLE.some((type) => type.name === kind)) return new CelError('list elements must be comparable');
  const pairs = Array.from({ length: list.size }, (_, i) => ({ key: keys.at(i), value: list.at(i) }));
  if (pairs.length > 1 && pairs.some(({ key }) => typeOf(key).name !== kind)) {
    return new CelError('list elements must have the same type');
  }
  pairs.sort((a, b) => {
    pace.round();
    const order = compareValues(a.key, b.key);
    return typeof order === 'number' ? order : 0;
  });
  return new ArrayList(pairs.map((p) => p.value));
}

function distinct(list: CelList, pace: Pace): Value {
  const unique: Value[] = [];
  const known = new ValueIndex();
  for (const item of list) {
    pace.round();
    if (known.has(item)) continue;
    known.add(item);
    unique.push(item);
  }
  return new ArrayList(unique);
}

// Costs: a factor per element, one for the call, and a new list.
const allocating = (factor: number, size: number): number => Math.trunc(size * factor) + 1 + LIST_COST;

const outputCost: Overload['cost'] = (_values, result) => allocating(1, actualSize(result));

const flattenCost: Overload['cost'] = ([list = null, depth = 1n]) => {
  if (typeof depth !== 'bigint') throw panic(`ref.Val is ${goName(depth)}, not types.Int`);
  return allocating(Number(depth), actualSize(list));
};

/** Every element compared with every other. */
function selfCompareCost(list: Value): number {
  if (!(list instanceof CelList)) {
    throw panic(`${goName(list)} is not traits.Lister: missing method ${canBeAdded(list) ? 'Contains' : 'Add'}`);
  }
  const first = list.size === 0 ? undefined : list.at(0);
  const long = typeof first === 'string' || first instanceof Uint8Array;
  return allocating(long ? 2 + TRAVERSAL_FACTOR : 2, list.size * list.size);
}

/** Where kube-apiserver assumes the type of an argument when it computes the cost of a call. */
const panic = (conversion: string): Cancelled =>
  new Cancelled(new CelError(`internal error: interface conversion: ${conversion}`));

const ADDED: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration']);

const canBeAdded = (value: Value): boolean => !(value instanceof CelError) && ADDED.has(typeOf(value).kind);

const allocatingEstimate = (factor: number, size: Estimate): CallEstimate => ({
  cost: plus(plus(timesFactor(size, factor), fixed(1)), fixed(LIST_COST)),
  resultSize: size,
});

const ofTarget =
  (estimate: (size: Estimate) => CallEstimate) =>
  ({ target, sizeOf }: CallToEstimate): CallEstimate | undefined =>
    target === undefined ? undefined : estimate(sizeOf(target));

function literalInt(node: EstimatedNode | undefined, fallback: number): number {
  if (node?.expression.kind !== 'literal' || typeof node.expression.value !== 'bigint') return fallback;
  return Math.max(0, Number(node.expression.value));
}

function selfCompareEstimate(size: Estimate, type: CelType): CallEstimate {
  return allocatingEstimate(type === STRING || type === BYTES ? 2 + TRAVERSAL_FACTOR : 2, times(size, size));
}

function estimateSlice({ target, args: [start, end], sizeOf }: CallToEstimate): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const from = literalInt(start, 0);
  const to = literalInt(end, sizeOf(target).max);
  // kube-apiserver subtracts unsigned numbers: an end before the start wraps around to "unbounded".
  return allocatingEstimate(1, fixed(to < from ? UNBOUNDED : to - from));
}

const mapMacro = STANDARD_MACROS.find((m) => m.name === 'map' && m.arguments === 2);

const sortBy: Macro = {
  name: 'sortBy',
  receiver: true,
  arguments: 2,
  expand: (build, target, args) => {
    if (target === undefined) return undefined;
    if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
      return new MacroError(
        'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
        target,
      );
    }
    const input = '@__sortBy_input__';
    const keys = mapMacro?.expand(build, build.ident(input), args);
    if (keys === undefined || keys instanceof MacroError) return keys;
    return bindName(build, input, target, build.memberCall(ASSOCIATED, build.ident(input), keys));
  },
};

export const listsLibrary: Library = {
  name: 'lists',
  macros: [sortBy],
  functions: [
    {
      name: 'slice',
      overloads: [
        {
          id: 'list_slice',
          member: true,
          parameters: [LIST_T, INT, INT],
          result: LIST_T,
          call: slice,
          cost: outputCost,
          estimate: estimateSlice,
        },
      ],
    },
    {
      name: 'flatten',
      overloads: [
        {
          id: 'list_flatten',
          member: true,
          parameters: [listType(LIST_T)],
          result: LIST_T,
          guarded: [DYN],
          call: (list: Value) =>
            list instanceof CelList
              ? flatten(list, 1n)
              : new CelError(`no such overload: ${typeOf(list).name}.flatten()`),
          cost: flattenCost,
          estimate: ofTarget((size) => allocatingEstimate(1, size)),
        },
        {
          id: 'list_flatten_int',
          member: true,
          parameters: [listType(DYN), INT],
          result: listType(DYN),
          guarded: [DYN, DYN],
          call: flatten,
          cost: flattenCost,
          estimate: ({ target, args: [depth], sizeOf }) =>
            target === undefined ? undefined : allocatingEstimate(literalInt(depth, UNBOUNDED), sizeOf(target)),
        },
      ],
    },
    {
      name: 'sort',
      dispatch: 'operand',
      overloads: COMPARABLE.map((type) => ({
        id: `list_${type.name}_sort`,
        member: true,
        parameters: [listType(type)],
        result: listType(type),
        guarded: [LIST],
        paced: true,
        call: (list: CelList, pace: Pace) => sortByKeys(list, list, pace),
        cost: ([list = null]) => selfCompareCost(list),
        estimate: ofTarget((size) => selfCompareEstimate(size, type)),
      })),
    },
    {
      name: ASSOCIATED,
      dispatch: 'operand',
      overloads: COMPARABLE.map((type) => ({
        id: `list_${type.name}_sortByAssociatedKeys`,
        member: true,
        parameters: [LIST_T, listType(type)],
        result: LIST_T,
        guarded: [LIST, LIST],
        paced: true,
        call: sortByKeys,
        cost: ([, keys = null]) => selfCompareCost(keys),
        estimate: ({ args: [keys], sizeOf }) =>
          keys === undefined ? undefined : selfCompareEstimate(sizeOf(keys), type),
      })),
    },
    {
      name: 'lists.range',
      overloads: [
        {
          id: 'lists_range',
          parameters: [INT],
          result: listType(INT),
          call: range,
          cost: outputCost,
          estimate: ({ args: [count] }) => allocatingEstimate(1, fixed(literalInt(count, UNBOUNDED))),
        },
      ],
    },
    {
      name: 'reverse',
      overloads: [
        {
          id: 'list_reverse',
          member: true,
          parameters: [LIST_T],
          result: LIST_T,
          call: (list: CelList) => new ArrayList([...list].reverse()),
          cost: outputCost,
          estimate: ofTarget((size) => allocatingEstimate(1, size)),
        },
      ],
    },
    {
      name: 'distinct',
      overloads: [
        {
          id: 'list_distinct',
          member: true,
          parameters: [LIST_T],
          result: LIST_T,
          paced: true,
          call: distinct,
          cost: ([list = null]) => selfCompareCost(list),
          estimate: ofTarget((size) => allocatingEstimate(2, times(size, size))),
        },
      ],
    },
  ],
};
