// What an expression may use, and the way from its text to a program.
//
//   const environment = newEnvironment({ libraries: [standard, strings], variables: { self: objectType('Self') }, … });
//   const checked = environment.compile('self.replicas <= 5');   // or { issues } with kube-apiserver's text
//   const program = checked.plan();                               // or a CelError
//   program.evaluate({ self: fromJson(json, type) }, { costLimit })
import type { CostModel, Estimate, Library } from './library.js';
import type { Expr } from './syntax/expression.js';
import type { CelType } from './type.js';
import type { CelError, Value } from './value.js';

export interface EnvironmentOptions {
  /** In order; overloads of a function of the same name join. The language's own functions are a library too. */
  readonly libraries: readonly Library[];
  readonly variables?: Readonly<Record<string, CelType>>;
  /** Object types by name. Called for every name that may be a type, so it must be fast. */
  readonly objectTypes?: ObjectTypes;
  /** Costs and sizes beside the engine's own. */
  readonly costs?: CostModel;
  readonly settings?: Partial<LanguageSettings>;
}

export interface ObjectTypes {
  find(typeName: string): ObjectTypeDeclaration | undefined;
}

export interface ObjectTypeDeclaration {
  readonly type: CelType;
  /** The type of a field; undefined when the type has no such field. */
  field(name: string): CelType | undefined;
  /** Makes a value from `Name{field: …}`. Without it, such expressions fail when they are evaluated. */
  construct?(fields: ReadonlyMap<string, Value>): Value;
}

/** What Kubernetes enables by version; the defaults are all of it, as the newest version has it. */
export interface LanguageSettings {
  /** `1 < 1.5` and the like are allowed. */
  readonly crossTypeNumericComparisons: boolean;
  /** Elements of a list literal must have one type. */
  readonly homogeneousLiterals: boolean;
  /** `a.?b`, `a[?b]`, `{?'k': v}`. */
  readonly optionalSyntax: boolean;
  /** Literals of durations, timestamps and regular expressions are checked when the expression is. */
  readonly literalValidation: boolean;
  /** `has(a.b)` costs one more than `a`. */
  readonly presenceTestHasCost: boolean;
  /** Quoted field names: a.`b-c` */
  readonly escapedIdentifiers: boolean;
}

export interface Environment {
  readonly options: EnvironmentOptions;
  /** This environment and more; a later declaration replaces an earlier one. Cheap: libraries are shared. */
  extend(more: Partial<Pick<EnvironmentOptions, 'variables' | 'objectTypes' | 'costs' | 'libraries'>>): Environment;
  compile(expression: string): CheckedExpression | CompileIssues;
}

/** Why an expression did not compile. */
export interface CompileIssues {
  /** `ERROR: <input>:1:3: …` with the line and a caret, one block per error, as kube-apiserver formats it. */
  readonly issues: string;
}

export interface CheckedExpression {
  readonly issues: undefined;
  readonly expression: Expr;
  /** The type of its result. */
  readonly type: CelType;
  /** Variables of the environment that the expression mentions. */
  readonly mentions: ReadonlySet<string>;
  /** What evaluating it may cost, with the environment's cost model or another one. */
  estimateCost(costs?: CostModel): Estimate;
  /** The program; an error when a constant part of the expression cannot be evaluated. */
  plan(): Program | CelError;
}

export type Variables = Readonly<Record<string, Value | LazyValue>>;

/** A lazy variable. It is called on every use; memoizing is its own concern. */
export type LazyValue = () => Value;

export interface Program {
  evaluate(variables: Variables, options?: EvaluateOptions): Evaluation;
}

export interface EvaluateOptions {
  /** Evaluation stops with an error when its cost goes beyond this. */
  readonly costLimit?: number;
  /** Polled in loops; true stops the evaluation. */
  readonly interrupted?: () => boolean;
}

export interface Evaluation {
  /** The result, or the CelError that nothing absorbed. */
  readonly value: Value;
  readonly cost: number;
}
