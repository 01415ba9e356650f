// kube-apiserver limits how deep each of its grammar rules may nest, and how deep operators may.
import type { Expr } from './expression.js';

const DEEPEST = 250;

export type Rule = 'expr' | 'relation' | 'calc' | 'member';

export class TooDeep extends Error {}

export class Nesting {
  readonly #rules: Record<Rule, number> = { expr: 0, relation: 0, calc: 0, member: 0 };
  /** How deep the operators below each node nest, by its id. */
  readonly #operators: number[] = [];

  enter(rule: Rule): void {
    this.#rules[rule]++;
    if (this.#rules[rule] > DEEPEST) throw new TooDeep(`expression recursion limit exceeded: ${DEEPEST}`);
  }

  leave(rule: Rule): void {
    this.#rules[rule]--;
  }

  /** An operator one level above its operands. */
  above(expression: Expr, operands: readonly Expr[]): Expr {
    this.beside(expression, operands);
    const depth = (this.#operators[expression.id] ?? 0) + 1;
    if (depth > DEEPEST) throw new TooDeep('max recursion depth exceeded');
    this.#operators[expression.id] = depth;
    return expression;
  }

  /** What is as deep as the deepest of its parts. */
  beside(expression: Expr, parts: readonly Expr[]): Expr {
    let deepest = 0;
    for (const part of parts) deepest = Math.max(deepest, this.#operators[part.id] ?? 0);
    this.#operators[expression.id] = deepest;
    return expression;
  }
}
