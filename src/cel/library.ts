// What a library brings to an environment: types, functions with their overloads, macros, and what calls cost.
import type { CallExpr, Expr } from './syntax/expression.js';
import type { CelType } from './type.js';
import type { Value } from './value.js';

export interface Library {
  readonly name: string;
  /** Types whose names expressions may use as values: `net.IP`. */
  readonly types?: readonly CelType[];
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Functions in whose arguments the elements of one list or map literal may have different types. */
  readonly mixedLiterals?: readonly string[];
  /** Looks for mistakes in a checked expression that types do not show. */
  readonly validate?: (tree: CheckedTree) => void;
}

export interface CheckedTree {
  /** Calls of a function, by its name, wherever they stand. */
  callsOf(name: string): readonly CallExpr[];
  typeOf(e: Expr): CelType;
  report(at: Expr, message: string): void;
}

export interface FunctionDeclaration {
  /** `size`, `sets.contains`, or an operator's inner name: `_+_`. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * The error of a call that no overload accepts: by default `no such overload: name(types)`. Operators and some functions
   * of the language are chosen by their first operand: `operand` says `no such overload: name` when it does not fit,
   * and `no such overload` when another does not; `plain` says the latter always.
   */
  readonly dispatch?: 'operand' | 'plain';
}

export interface Overload {
  /** kube-apiserver's id, by which costs are found and call sites are resolved. */
  readonly id: string;
  /** Called on a receiver, which is the first parameter: `'a'.matches('b')`. */
  readonly member?: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** What the engine makes sure of before a call, where that is less than the parameters. */
  readonly guarded?: readonly CelType[];
  /**
   * Called with values of the parameters' kinds only (the engine answers `no such overload` otherwise) and never with
   * errors. Returns a CelError when it fails.
   */
  readonly call: (...values: never[]) => Value;
  /** It may be slow: it receives the evaluation after its values, and reports each part to it. */
  readonly paced?: true;
  /** What a call cost, beyond its arguments. Undefined leaves it to the environment's costs, then to the engine's. */
  readonly cost?: (values: readonly Value[], result: Value) => number | undefined;
  /** The cost before the call, estimated from sizes. */
  readonly estimate?: (call: CallToEstimate) => CallEstimate | undefined;
}

export interface Macro {
  readonly name: string;
  readonly receiver: boolean;
  /** How many arguments, the receiver not counted. */
  readonly arguments: number | 'any';
  /** The expansion; undefined when the call is to stay a call; a MacroError where the arguments do not fit. */
  readonly expand: (
    build: ExpressionBuilder,
    target: Expr | undefined,
    args: readonly Expr[],
  ) => Expr | MacroError | undefined;
}

export class MacroError {
  constructor(
    readonly message: string,
    /** The expression that the error is about; the call when absent. */
    readonly at?: Expr,
  ) {}
}

/** Makes expressions of a macro's expansion, all located at the macro's call. */
export interface ExpressionBuilder {
  readonly accumulator: string;
  literal(value: Value): Expr;
  ident(name: string): Expr;
  accuIdent(): Expr;
  select(operand: Expr, field: string): Expr;
  presenceTest(operand: Expr, field: string): Expr;
  call(name: string, ...args: Expr[]): Expr;
  memberCall(name: string, target: Expr, ...args: Expr[]): Expr;
  list(...elements: Expr[]): Expr;
  map(...entries: readonly (readonly [Expr, Expr])[]): Expr;
  /** The same expression again, with ids of its own. */
  copy(expression: Expr): Expr;
  comprehension(parts: {
    readonly range: Expr;
    readonly variable: string;
    readonly variable2?: string;
    readonly accumulator: string;
    readonly init: Expr;
    readonly condition: Expr;
    readonly step: Expr;
    readonly result: Expr;
  }): Expr;
}

// Costs. Numbers saturate at the largest 64-bit integer, which stands for "unbounded".

export interface Estimate {
  readonly min: number;
  readonly max: number;
}

export interface CallEstimate {
  readonly cost: Estimate;
  /** Only where the result is a string, bytes, list or map. */
  readonly resultSize?: Estimate;
}

/** An expression as estimates see it. */
export interface EstimatedNode {
  /**
   * From a variable through its declared types to here: the variable's name, then field names, `@items`, `@keys`,
   * `@values` or `@indices`. Empty when this is not reachable from a variable.
   */
  readonly path: readonly string[];
  readonly type: CelType;
  readonly expression: Expr;
  /** Known from the expression itself. */
  readonly size: Estimate | undefined;
}

export interface CallToEstimate {
  readonly function: string;
  readonly overload: string;
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
  /** The size of a node: computed, or from the size estimator; from 0 to unbounded when nobody knows. */
  readonly sizeOf: (node: EstimatedNode) => Estimate;
  /** The size of what lies below a node: `below(list, '@items', elementType)`. */
  readonly sizeBelow: (node: EstimatedNode, step: string, type: CelType) => Estimate;
}

/** What an environment knows of sizes and costs that expressions do not say. */
export interface CostModel {
  /** Number of characters, bytes, elements or entries; undefined when unknown. */
  estimateSize?(node: EstimatedNode): Estimate | undefined;
  estimateCall?(call: CallToEstimate): CallEstimate | undefined;
  /** The functions `callCost` may answer for; when set, it is not called for others, which saves time. */
  readonly pricedFunctions?: ReadonlySet<string>;
  /** What a call cost at run time. */
  callCost?(functionName: string, overload: string, values: readonly Value[], result: Value): number | undefined;
}
