// The expression tree. Every node has an id; positions, types and resolved references are kept by id.
import type { Value } from '../value.js';

export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr
  | UnspecifiedExpr;

/** What stands where the text could not be understood; an error was reported for it. */
export interface UnspecifiedExpr {
  readonly kind: 'unspecified';
  readonly id: number;
}

export interface LiteralExpr {
  readonly kind: 'literal';
  readonly id: number;
  readonly value: Value;
}

export interface IdentExpr {
  readonly kind: 'ident';
  readonly id: number;
  readonly name: string;
}

export interface SelectExpr {
  readonly kind: 'select';
  readonly id: number;
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)` */
  readonly testOnly: boolean;
}

export interface CallExpr {
  readonly kind: 'call';
  readonly id: number;
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListExpr {
  readonly kind: 'list';
  readonly id: number;
  readonly elements: readonly Expr[];
  /** Places of elements that are written `?element`. */
  readonly optional: ReadonlySet<number>;
}

export interface MapEntry {
  readonly id: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface MapExpr {
  readonly kind: 'map';
  readonly id: number;
  readonly entries: readonly MapEntry[];
}

export interface StructField {
  readonly id: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface StructExpr {
  readonly kind: 'struct';
  readonly id: number;
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

/** A loop over a range that folds into an accumulator; what all, exists, map and filter expand to. */
export interface ComprehensionExpr {
  readonly kind: 'comprehension';
  readonly id: number;
  readonly range: Expr;
  readonly variable: string;
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}
