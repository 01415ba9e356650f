// Makes nodes of the expression tree and keeps their positions.
import type { CallExpr, Expr, MapEntry, StructField, UnspecifiedExpr } from './expression.js';
import type { ExpressionBuilder } from '../library.js';
import type { Value } from '../value.js';

/** The name of the accumulator of macros' loops, which no text can mention. */
export const ACCUMULATOR = '@result';

/** More nodes than an expression may have. */
export class TooManyNodes extends Error {}

// Macros that copy their target double the tree with each link of a chain (`a.optMap(…).optMap(…)`). No text of the
// longest length allowed comes near this without them.
const MAX_NODES = 1_000_000;

export class ExpressionFactory {
  /** By id. Ids count from 1. */
  readonly offsets: number[] = [0];

  id(offset: number): number {
    if (this.offsets.length > MAX_NODES) throw new TooManyNodes('expression recursion limit exceeded: 250');
    return this.offsets.push(offset) - 1;
  }
  literal(id: number, value: Value): Expr {
    return { kind: 'literal', id, value };
  }
  ident(id: number, name: string): Expr {
    return { kind: 'ident', id, name };
  }
  select(id: number, operand: Expr, field: string, testOnly: boolean): Expr {
    return { kind: 'select', id, operand, field, testOnly };
  }
  call(id: number, name: string, target: Expr | undefined, args: readonly Expr[]): CallExpr {
    return { kind: 'call', id, name, target, args };
  }
  list(id: number, elements: readonly Expr[], optional: ReadonlySet<number> = new Set()): Expr {
    return { kind: 'list', id, elements, optional };
  }
  map(id: number, entries: readonly MapEntry[]): Expr {
    return { kind: 'map', id, entries };
  }
  struct(id: number, typeName: string, fields: readonly StructField[]): Expr {
    return { kind: 'struct', id, typeName, fields };
  }
  unspecified(offset: number): UnspecifiedExpr {
    return { kind: 'unspecified', id: this.id(offset) };
  }

  /** What macros build with: all nodes stand where the macro's call does. */
  builder(offset: number): ExpressionBuilder {
    const id = (): number => this.id(offset);
    return {
      accumulator: ACCUMULATOR,
      literal: (value) => this.literal(id(), value),
      ident: (name) => this.ident(id(), name),
      accuIdent: () => this.ident(id(), ACCUMULATOR),
      select: (operand, field) => this.select(id(), operand, field, false),
      presenceTest: (operand, field) => this.select(id(), operand, field, true),
      call: (name, ...args) => this.call(id(), name, undefined, args),
      memberCall: (name, target, ...args) => this.call(id(), name, target, args),
      list: (...elements) => this.list(id(), elements),
      map: (...entries) =>
        this.map(
          id(),
          entries.map(([key, value]) => ({ id: id(), key, value, optional: false })),
        ),
      copy: (expression) => this.copy(expression),
      comprehension: (parts) => ({ kind: 'comprehension', id: id(), variable2: undefined, ...parts }),
    };
  }

  /** The same tree with ids of its own. */
  private copy(e: Expr): Expr {
    const id = this.id(this.offsets[e.id] ?? 0);
    const again = (inner: Expr): Expr => this.copy(inner);
    switch (e.kind) {
      case 'select':
        return { ...e, id, operand: again(e.operand) };
      case 'call':
        return { ...e, id, target: e.target === undefined ? undefined : again(e.target), args: e.args.map(again) };
      case 'list':
        return { ...e, id, elements: e.elements.map(again) };
      case 'map':
        return {
          ...e,
          id,
          entries: e.entries.map((n) => ({ ...n, id: this.copyId(n.id), key: again(n.key), value: again(n.value) })),
        };
      case 'struct':
        return { ...e, id, fields: e.fields.map((f) => ({ ...f, id: this.copyId(f.id), value: again(f.value) })) };
      case 'comprehension':
        return {
          ...e,
          id,
          range: again(e.range),
          init: again(e.init),
          condition: again(e.condition),
          step: again(e.step),
          result: again(e.result),
        };
      default:
        return { ...e, id };
    }
  }

  private copyId(id: number): number {
    return this.id(this.offsets[id] ?? 0);
  }
}
