import type { Expr } from './expression.js';

/** Visits an expression and all below it, parents first; a visitor that returns false is not led further down. */
export function walk(e: Expr, visit: (e: Expr) => boolean | void): void {
  if (visit(e) === false) return;
  for (const child of children(e)) walk(child, visit);
}

function children(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case 'select':
      return [e.operand];
    case 'call':
      return e.target === undefined ? e.args : [e.target, ...e.args];
    case 'list':
      return e.elements;
    case 'map':
      return e.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return e.fields.map((f) => f.value);
    case 'comprehension':
      return [e.range, e.init, e.condition, e.step, e.result];
    default:
      return [];
  }
}
