import type { FunctionDeclaration } from '../library.js';
import { compareValues } from '../run/equality.js';
import { BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } from '../type.js';
import type { Value } from '../value.js';

// In the order of kube-apiserver's declarations, which is the order overloads are tried in.
const PAIRS = [
  ['bool', BOOL, BOOL],
  ['int64', INT, INT],
  ['int64_double', INT, DOUBLE],
  ['int64_uint64', INT, UINT],
  ['uint64', UINT, UINT],
  ['uint64_double', UINT, DOUBLE],
  ['uint64_int64', UINT, INT],
  ['double', DOUBLE, DOUBLE],
  ['double_int64', DOUBLE, INT],
  ['double_uint64', DOUBLE, UINT],
  ['string', STRING, STRING],
  ['bytes', BYTES, BYTES],
  ['timestamp', TIMESTAMP, TIMESTAMP],
  ['duration', DURATION, DURATION],
] as const;

const comparison = (name: string, prefix: string, holds: (order: number) => boolean): FunctionDeclaration => ({
  name,
  dispatch: 'operand',
  overloads: PAIRS.map(([suffix, left, right]) => ({
    id: `${prefix}_${suffix}`,
    parameters: [left, right],
    result: BOOL,
    call: (a: Value, b: Value) => {
      const order = compareValues(a, b);
      return typeof order === 'number' ? holds(order) : order;
    },
  })),
});

export const COMPARISONS: readonly FunctionDeclaration[] = [
  comparison('_<_', 'less', (order) => order < 0),
  comparison('_<=_', 'less_equals', (order) => order <= 0),
  comparison('_>_', 'greater', (order) => order > 0),
  comparison('_>=_', 'greater_equals', (order) => order >= 0),
];
