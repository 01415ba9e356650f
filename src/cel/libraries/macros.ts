// The macros of the language: has, all, exists, exists_one, map and filter, in the forms with one and two variables,
// and cel.bind. Each becomes a presence test or a loop that folds into an accumulator.
import type { ExpressionBuilder, Macro } from '../library.js';
import { MacroError } from '../library.js';
import { ACCUMULATOR } from '../syntax/factory.js';
import type { Expr } from '../syntax/expression.js';

/** The loop variable of a comprehension that only binds a name. */
const UNUSED = '#unused';

type Arguments = readonly Expr[];

const has: Macro['expand'] = (build, _target, [argument]) => {
  if (argument?.kind === 'select') return build.presenceTest(argument.operand, argument.field);
  return new MacroError('invalid argument to has() macro', argument);
};

/** The names of the loop's variables, or why they cannot be that. */
function loopVariables(args: Arguments, complaint: string): readonly string[] | MacroError {
  const names: string[] = [];
  for (const argument of args) {
    if (argument.kind !== 'ident') return new MacroError(complaint, argument);
    names.push(argument.name);
  }
  if (names.length === 2 && names[0] === names[1]) {
    return new MacroError(`duplicate variable name: ${names[0]}`, args[1]);
  }
  const overwriting = names.findIndex((name) => name === ACCUMULATOR || name === '__result__');
  if (overwriting >= 0) {
    return new MacroError('iteration variable overwrites accumulator variable', args[overwriting]);
  }
  return names;
}

interface Fold {
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

const NOT_A_NAME = 'argument must be a simple name';
const NOT_AN_IDENTIFIER = 'argument is not an identifier';

interface LoopMacro {
  readonly variables: 1 | 2;
  readonly rest: number;
  readonly fold: (build: ExpressionBuilder, rest: Arguments, variables: Arguments) => Fold;
  readonly complaint?: string | undefined;
}

/** A macro `range.name(variables…, rest…)` that becomes a loop. */
function loop(name: string, { variables, rest, fold, complaint = NOT_A_NAME }: LoopMacro): Macro {
  return {
    name,
    receiver: true,
    arguments: variables + rest,
    expand: (build, target, args) => {
      const names = loopVariables(args.slice(0, variables), complaint);
      if (names instanceof MacroError || target === undefined) return names instanceof MacroError ? names : undefined;
      const [variable = '', variable2] = names;
      const parts = fold(build, args.slice(variables), args.slice(0, variables));
      return build.comprehension({
        range: target,
        variable,
        ...(variable2 === undefined ? {} : { variable2 }),
        accumulator: build.accumulator,
        ...parts,
      });
    },
  };
}

const first = (build: ExpressionBuilder, args: Arguments): Expr => args[0] ?? build.literal(null);
const last = (build: ExpressionBuilder, args: Arguments): Expr => args.at(-1) ?? build.literal(null);

const all = (build: ExpressionBuilder, rest: Arguments): Fold => ({
  init: build.literal(true),
  condition: build.call('@not_strictly_false', build.accuIdent()),
  step: build.call('_&&_', build.accuIdent(), first(build, rest)),
  result: build.accuIdent(),
});

const exists = (build: ExpressionBuilder, rest: Arguments): Fold => ({
  init: build.literal(false),
  condition: build.call('@not_strictly_false', build.call('!_', build.accuIdent())),
  step: build.call('_||_', build.accuIdent(), first(build, rest)),
  result: build.accuIdent(),
});

const existsOne = (build: ExpressionBuilder, rest: Arguments): Fold => ({
  init: build.literal(0n),
  condition: build.literal(true),
  step: build.call(
    '_?_:_',
    first(build, rest),
    build.call('_+_', build.accuIdent(), build.literal(1n)),
    build.accuIdent(),
  ),
  result: build.call('_==_', build.accuIdent(), build.literal(1n)),
});

/** Folds that collect, with an optional filter before the transform. */
function collect(build: ExpressionBuilder, rest: Arguments, init: Expr, step: Expr): Fold {
  const [filter] = rest;
  return {
    init,
    condition: build.literal(true),
    step: rest.length === 2 && filter !== undefined ? build.call('_?_:_', filter, step, build.accuIdent()) : step,
    result: build.accuIdent(),
  };
}

const mapToList = (build: ExpressionBuilder, rest: Arguments): Fold =>
  collect(build, rest, build.list(), build.call('_+_', build.accuIdent(), build.list(last(build, rest))));

const filter = (build: ExpressionBuilder, rest: Arguments, variables: Arguments): Fold =>
  collect(
    build,
    [first(build, rest), first(build, rest)],
    build.list(),
    build.call('_+_', build.accuIdent(), build.list(first(build, variables))),
  );

const transformMap = (build: ExpressionBuilder, rest: Arguments, variables: Arguments): Fold => {
  const key = variables[0];
  const name = key?.kind === 'ident' ? key.name : '';
  const step = build.call('cel.@mapInsert', build.accuIdent(), build.ident(name), last(build, rest));
  return collect(build, rest, build.map(), step);
};

const transformMapEntry = (build: ExpressionBuilder, rest: Arguments): Fold =>
  collect(build, rest, build.map(), build.call('cel.@mapInsert', build.accuIdent(), last(build, rest)));

export const STANDARD_MACROS: readonly Macro[] = [
  { name: 'has', receiver: false, arguments: 1, expand: has },
  loop('all', { variables: 1, rest: 1, fold: all }),
  loop('exists', { variables: 1, rest: 1, fold: exists }),
  loop('exists_one', { variables: 1, rest: 1, fold: existsOne }),
  loop('existsOne', { variables: 1, rest: 1, fold: existsOne }),
  loop('map', { variables: 1, rest: 1, fold: mapToList, complaint: NOT_AN_IDENTIFIER }),
  loop('map', { variables: 1, rest: 2, fold: mapToList, complaint: NOT_AN_IDENTIFIER }),
  loop('filter', { variables: 1, rest: 1, fold: filter, complaint: NOT_AN_IDENTIFIER }),
];

export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  loop('all', { variables: 2, rest: 1, fold: all }),
  loop('exists', { variables: 2, rest: 1, fold: exists }),
  loop('existsOne', { variables: 2, rest: 1, fold: existsOne }),
  loop('exists_one', { variables: 2, rest: 1, fold: existsOne }),
  loop('transformList', { variables: 2, rest: 1, fold: mapToList }),
  loop('transformList', { variables: 2, rest: 2, fold: mapToList }),
  loop('transformMap', { variables: 2, rest: 1, fold: transformMap }),
  loop('transformMap', { variables: 2, rest: 2, fold: transformMap }),
  loop('transformMapEntry', { variables: 2, rest: 1, fold: transformMapEntry }),
  loop('transformMapEntry', { variables: 2, rest: 2, fold: transformMapEntry }),
];

/** `name` stands for `value` inside `body`: a loop over nothing, whose accumulator is made when first read. */
export function bindName(build: ExpressionBuilder, name: string, value: Expr, body: Expr): Expr {
  return build.comprehension({
    range: build.list(),
    variable: UNUSED,
    accumulator: name,
    init: value,
    condition: build.literal(false),
    step: build.ident(name),
    result: body,
  });
}

export const BIND_MACRO: Macro = {
  name: 'bind',
  receiver: true,
  arguments: 3,
  expand: (build, target, [name, value, body]) => {
    if (target?.kind !== 'ident' || target.name !== 'cel') return undefined;
    if (value === undefined || body === undefined) return undefined;
    if (name?.kind !== 'ident') return new MacroError('cel.bind() variable names must be simple identifiers', name);
    return bindName(build, name.name, value, body);
  },
};
