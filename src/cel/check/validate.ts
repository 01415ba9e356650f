// Mistakes that types do not show: literals that cannot be what they are passed for, and literals of mixed types.
import type { Checked } from './checker.js';
import type { Declarations } from './declarations.js';
import { isOptionalType, parameter, sameType, formatType } from '../type.js';
import type { CelType } from '../type.js';
import type { CheckedTree } from '../library.js';
import { compileRegex } from '../run/regex.js';
import { parseDuration, parseTimestamp } from '../run/time.js';
import { TIMESTAMP_OVERFLOW, timestamp } from '../run/arithmetic.js';
import type { CallExpr, Expr } from '../syntax/expression.js';
import type { Parsed } from '../syntax/parser.js';
import { walk } from '../syntax/walk.js';
import { CelError, noSuchOverload } from '../value.js';
import type { Value } from '../value.js';

export function validate(checked: Checked, parsed: Parsed, declarations: Declarations): void {
  const tree = treeOf(checked, parsed);
  const { homogeneousLiterals, literalValidation } = declarations.settings;
  if (homogeneousLiterals) checkHomogeneous(checked, declarations.libraries.mixedLiterals, tree);
  if (literalValidation) checkLiterals(tree);
  for (const library of declarations.libraries.libraries) library.validate?.(tree);
}

function treeOf(checked: Checked, parsed: Parsed): CheckedTree {
  const calls: CallExpr[] = [];
  walk(checked.expression, (e) => {
    if (e.kind === 'call') calls.push(e);
  });
  return {
    callsOf: (name) => calls.filter((c) => c.name === name),
    typeOf: checked.typeOf,
    report: (at, message) => checked.mistakes.report(parsed.source.locate(parsed.offsets[at.id] ?? 0), message),
  };
}

/** What the first argument of a call may be, where it is written out. */
const LITERALS: readonly (readonly [string, (value: Value) => Value])[] = [
  ['duration', (value) => (typeof value === 'string' ? parseDuration(value) : noSuchOverload())],
  ['timestamp', readTimestamp],
  ['matches', (value) => (typeof value === 'string' ? regexOrError(value) : value)],
];

function readTimestamp(value: Value): Value {
  if (typeof value === 'string') return parseTimestamp(value);
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? timestamp(Number(value), 0) : TIMESTAMP_OVERFLOW;
}

function regexOrError(pattern: string): Value {
  const regex = compileRegex(pattern);
  return regex instanceof CelError ? regex : null;
}

function checkLiterals(tree: CheckedTree): void {
  for (const [name, read] of LITERALS) {
    for (const call of tree.callsOf(name)) {
      const [argument] = call.args;
      if (argument?.kind !== 'literal') continue;
      if (read(argument.value) instanceof CelError) tree.report(argument, `invalid ${name} argument`);
    }
  }
}

function checkHomogeneous(checked: Checked, exempt: ReadonlySet<string>, tree: CheckedTree): void {
  const visit = (e: Expr): boolean => {
    if (e.kind === 'call' && exempt.has(e.name)) return false;
    if (e.kind === 'list') {
      const types = e.elements.map((x, i) => unwrap(checked.typeOf(x), e.optional.has(i)));
      const odd = types.findIndex((type) => !sameType(type, types[0] ?? type));
      const culprit = e.elements[odd];
      if (culprit !== undefined) mismatch(tree, culprit, types[0], types[odd]);
    }
    if (e.kind === 'map') {
      const [first] = e.entries;
      for (const entry of e.entries) {
        if (first === undefined) break;
        const keys = [checked.typeOf(first.key), checked.typeOf(entry.key)] as const;
        if (!sameType(...keys)) mismatch(tree, entry.key, ...keys);
        const values = [
          unwrap(checked.typeOf(first.value), first.optional),
          unwrap(checked.typeOf(entry.value), entry.optional),
        ] as const;
        if (!sameType(...values)) mismatch(tree, entry.value, ...values);
      }
    }
    return true;
  };
  walk(checked.expression, visit);
}

const unwrap = (type: CelType, optional: boolean): CelType =>
  optional && isOptionalType(type) ? parameter(type, 0) : type;

function mismatch(tree: CheckedTree, at: Expr, expected?: CelType, actual?: CelType): void {
  if (expected === undefined || actual === undefined) return;
  tree.report(at, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
}
