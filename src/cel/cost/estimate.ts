// What evaluating an expression may cost, from its form and the sizes of what it touches.
//
// The estimate decides which rules may be written, so it follows kube-apiserver step by step: sizes are known by node
// (literals, results of calls), by the path from a variable (by the size estimator), or by the type (scalars).
import { LIST_COST, MAP_COST, REGEX_FACTOR, STRUCT_COST, TRAVERSAL_FACTOR } from './actual-cost.js';
import { fixed, plus, times, timesFactor, UNBOUNDED, union, UNKNOWN_SIZE } from './estimates.js';
import { Scopes } from './scopes.js';
import type { EntrySize } from './scopes.js';
import type { Checked } from '../check/checker.js';
import type { CallEstimate, CallToEstimate, CostModel, Estimate, EstimatedNode } from '../library.js';
import { ACCUMULATOR } from '../syntax/factory.js';
import { characters } from '../syntax/source.js';
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from '../syntax/expression.js';
import { isOptionalType, parameter } from '../type.js';
import type { CelType } from '../type.js';

export function estimateCost(checked: Checked, model: CostModel, presenceTestHasCost: boolean): Estimate {
  return new Coster(checked, model, presenceTestHasCost ? 1 : 0).cost(checked.expression);
}

const ZERO = fixed(0);
const ONE = fixed(1);
/** Where the bounds of elements start before any was seen. */
const NOTHING_YET: Estimate = { min: UNBOUNDED, max: 0 };

class Coster {
  private readonly paths = new Map<number, readonly string[]>();
  private readonly sizes = new Map<number, Estimate>();
  private readonly entrySizes = new Map<number, EntrySize>();
  private readonly scopes = new Scopes();

  constructor(
    private readonly checked: Checked,
    private readonly model: CostModel,
    private readonly presenceTestCost: number,
  ) {}

  cost(e: Expr): Estimate {
    switch (e.kind) {
      case 'ident':
        this.paths.set(e.id, this.scopes.find(e.name)?.path ?? [e.name]);
        return ONE;
      case 'select':
        return this.select(e);
      case 'call':
        return this.call(e);
      case 'list':
        return this.list(e);
      case 'map':
        return this.map(e);
      case 'struct':
        return e.fields.reduce((sum, f) => plus(sum, this.cost(f.value)), fixed(STRUCT_COST));
      case 'comprehension':
        return isBind(e) ? this.bind(e) : this.comprehension(e);
      default:
        return ZERO;
    }
  }

  private select(e: SelectExpr): Estimate {
    const operand = this.cost(e.operand);
    if (e.testOnly) return plus(fixed(this.presenceTestCost), operand);
    const { kind } = this.checked.typeOf(e.operand);
    this.paths.set(e.id, [...this.path(e.operand), e.field]);
    return kind === 'map' || kind === 'struct' || kind === 'type-param' ? plus(operand, ONE) : operand;
  }

  private call(e: CallExpr): Estimate {
    const [first] = e.args;
    if (e.name === 'dyn' && first !== undefined) {
      const inner = this.cost(first);
      this.copySizes(e, first);
      return plus(ONE, inner);
    }
    const costs = e.args.map((a) => this.cost(a));
    const args = e.args.map((a) => this.node(a));
    const overloads = this.checked.overloadsOf(e);
    if (overloads.length === 0) return ZERO;
    const targetCost = e.target === undefined ? ZERO : this.cost(e.target);
    const target = e.target === undefined ? undefined : this.node(e.target);
    let total = NOTHING_YET;
    let size: Estimate | undefined;
    for (const overload of overloads) {
      const call = this.toEstimate(e.name, overload.id, target, args);
      const callEstimate = overload.estimate?.(call) ?? this.model.estimateCall?.(call);
      const estimated =
        callEstimate === undefined ? this.ownEstimate(e, call, costs) : withArguments(callEstimate, costs);
      total = union(total, estimated.cost);
      if (estimated.resultSize !== undefined) {
        size = size === undefined ? estimated.resultSize : union(size, estimated.resultSize);
      }
      if (first !== undefined && (overload.id === 'index_list' || overload.id === 'index_map')) {
        size = this.entrySize(first)?.value;
        this.paths.set(e.id, [...this.path(first), overload.id === 'index_list' ? '@items' : '@values']);
      }
      size ??= this.size(e);
    }
    if (size !== undefined) this.sizes.set(e.id, size);
    return plus(targetCost, total);
  }

  private toEstimate(
    name: string,
    overload: string,
    target: EstimatedNode | undefined,
    args: readonly EstimatedNode[],
  ): CallToEstimate {
    const sizeFromModel = (node: EstimatedNode): Estimate | undefined => this.model.estimateSize?.(node);
    return {
      function: name,
      overload,
      target,
      args,
      sizeOf: (node) => node.size ?? sizeFromModel(node) ?? UNKNOWN_SIZE,
      sizeBelow: (node, step, type) =>
        sizeFromModel({ path: [...node.path, step], type, expression: node.expression, size: undefined }) ??
        UNKNOWN_SIZE,
    };
  }

  /** The engine's own knowledge of the language's functions. */
  private ownEstimate(
    e: CallExpr,
    { overload, target, args }: CallToEstimate,
    costs: readonly Estimate[],
  ): CallEstimate {
    const size = (node: EstimatedNode): Estimate => node.size ?? UNKNOWN_SIZE;
    const read = (node: EstimatedNode): Estimate => timesFactor(size(node), TRAVERSAL_FACTOR);
    const [first, second, third] = args;
    switch (overload) {
      case 'string_format':
        if (target !== undefined) return withArguments({ cost: read(target) }, costs);
        break;
      case 'string_to_bytes':
        if (first === undefined) break;
        return withArguments(
          { cost: read(first), resultSize: { min: size(first).min, max: wrapped(size(first).max * 4) } },
          costs,
        );
      case 'bytes_to_string':
        if (first === undefined) break;
        return withArguments(
          { cost: read(first), resultSize: { min: Math.floor(size(first).min / 4), max: size(first).max } },
          costs,
        );
      case 'strings_quote':
        if (first === undefined) break;
        return withArguments(
          { cost: read(first), resultSize: { min: size(first).min + 2, max: quotedSize(size(first).max) } },
          costs,
        );
      case 'starts_with_string':
      case 'ends_with_string':
        if (first !== undefined) return withArguments({ cost: read(first) }, costs);
        break;
      case 'in_list':
        if (second !== undefined) return withArguments({ cost: size(second) }, costs);
        break;
      case 'matches_string': {
        if (target === undefined || first === undefined) break;
        const text = timesFactor(plus(size(target), ONE), TRAVERSAL_FACTOR);
        return withArguments({ cost: times(text, timesFactor(size(first), REGEX_FACTOR)) }, costs);
      }
      case 'contains_string':
        if (target === undefined || first === undefined) break;
        return withArguments({ cost: times(read(target), read(first)) }, costs);
      case 'logical_or':
      case 'logical_and': {
        const [left = ZERO, right = ZERO] = costs;
        return { cost: { min: left.min, max: plus(left, right).max } };
      }
      case 'conditional': {
        if (second === undefined || third === undefined) break;
        const [condition = ZERO, yes = ZERO, no = ZERO] = costs;
        this.setEntrySize(e, unionEntries(this.entrySize(second.expression), this.entrySize(third.expression)));
        return { cost: plus(condition, union(yes, no)), resultSize: union(size(second), size(third)) };
      }
      case 'add_string':
      case 'add_bytes':
      case 'add_list': {
        if (first === undefined || second === undefined) break;
        const resultSize = plus(size(first), size(second));
        this.setEntrySize(e, unionEntries(this.entrySize(first.expression), this.entrySize(second.expression)));
        const cost = overload === 'add_list' ? ONE : timesFactor(resultSize, TRAVERSAL_FACTOR);
        return withArguments({ cost, resultSize }, costs);
      }
      default: {
        if (!COMPARING.test(overload) || first === undefined || second === undefined) break;
        const smaller = Math.min(size(first).max, size(second).max);
        const compared = { min: smaller > 0 ? 1 : 0, max: smaller };
        return withArguments({ cost: timesFactor(compared, TRAVERSAL_FACTOR) }, costs);
      }
    }
    return withArguments({ cost: ONE }, costs);
  }

  private list(e: ListExpr): Estimate {
    let sum = fixed(LIST_COST);
    let value = e.elements.length === 0 ? ZERO : NOTHING_YET;
    for (const element of e.elements) {
      sum = plus(sum, this.cost(element));
      value = union(value, this.sizeOrUnknown(element));
    }
    this.entrySizes.set(e.id, { container: 'list', key: ONE, value });
    return sum;
  }

  private map(e: MapExpr): Estimate {
    let sum = fixed(MAP_COST);
    let key = e.entries.length === 0 ? ZERO : NOTHING_YET;
    let value = key;
    for (const entry of e.entries) {
      sum = plus(plus(sum, this.cost(entry.key)), this.cost(entry.value));
      key = union(key, this.sizeOrUnknown(entry.key));
      value = union(value, this.sizeOrUnknown(entry.value));
    }
    this.entrySizes.set(e.id, { container: 'map', key, value });
    return sum;
  }

  private comprehension(e: ComprehensionExpr): Estimate {
    let sum = plus(this.cost(e.range), this.cost(e.init));
    this.pushLocal(e.accumulator, e.init);
    this.pushLoopVariables(e);
    const round = plus(this.cost(e.condition), this.cost(e.step));
    this.scopes.pop(e.variable);
    if (e.variable2 !== undefined) this.scopes.pop(e.variable2);
    sum = plus(sum, this.cost(e.result));
    this.scopes.pop(e.accumulator);
    const rounds = this.sizeOrUnknown(e.range);
    if (e.init.kind === 'literal') {
      const size = this.size(e.init);
      if (size !== undefined) this.sizes.set(e.id, size);
    } else if (e.init.kind === 'list' || e.init.kind === 'map') {
      this.sizes.set(e.id, rounds);
      this.setEntrySize(e, this.entrySize(e.step));
    }
    return plus(sum, times(rounds, round));
  }

  private pushLoopVariables({ range, variable, variable2 }: ComprehensionExpr): void {
    const entry = this.entrySize(range);
    const overList = (entry?.container ?? this.checked.typeOf(range).kind) === 'list';
    const push = (name: string, step: string, size: Estimate | undefined): void =>
      this.scopes.push(name, { path: [...this.path(range), step], size, entrySize: undefined });
    if (variable2 === undefined) {
      if (overList) push(variable, '@items', entry?.value);
      else push(variable, '@keys', entry?.key);
      return;
    }
    push(variable, overList ? '@indices' : '@keys', entry?.key);
    push(variable2, overList ? '@items' : '@values', entry?.value);
  }

  private bind(e: ComprehensionExpr): Estimate {
    const before = plus(this.cost(e.range), this.cost(e.init));
    this.pushLocal(e.accumulator, e.init);
    const sum = plus(before, this.cost(e.result));
    this.scopes.pop(e.accumulator);
    this.copySizes(e, e.result);
    return sum;
  }

  private pushLocal(name: string, e: Expr): void {
    this.scopes.push(name, { path: this.path(e), size: this.size(e), entrySize: this.entrySize(e) });
  }

  private path(e: Expr): readonly string[] {
    const local = e.kind === 'ident' ? this.scopes.find(e.name) : undefined;
    return local?.path ?? this.paths.get(e.id) ?? [];
  }

  private node(e: Expr): EstimatedNode {
    const path = this.path(e);
    return {
      // Accumulators are nobody's variables.
      path: path[0] === ACCUMULATOR || path[0] === '__result__' ? [] : path,
      type: this.checked.typeOf(e),
      expression: e,
      size: this.size(e),
    };
  }

  private sizeOrUnknown(e: Expr): Estimate {
    return this.size(e) ?? UNKNOWN_SIZE;
  }

  private size(e: Expr): Estimate | undefined {
    const known = this.sizes.get(e.id) ?? sizeOfLiteral(e);
    if (known !== undefined) return known;
    const type = this.checked.typeOf(e);
    const size = this.model.estimateSize?.({ path: this.path(e), type, expression: e, size: undefined });
    if (size !== undefined) {
      this.sizes.set(e.id, size);
      return size;
    }
    if (isScalar(type)) return ONE;
    return e.kind === 'ident' ? this.scopes.find(e.name)?.size : undefined;
  }

  private entrySize(e: Expr): EntrySize | undefined {
    return this.entrySizes.get(e.id) ?? (e.kind === 'ident' ? this.scopes.find(e.name)?.entrySize : undefined);
  }

  private setEntrySize(e: Expr, size: EntrySize | undefined): void {
    if (size !== undefined) this.entrySizes.set(e.id, size);
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.size(from);
    if (size !== undefined) this.sizes.set(to.id, size);
    this.setEntrySize(to, this.entrySize(from));
  }
}

const COMPARING = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/;

/** Sizes beyond 64 bits wrap around in kube-apiserver; only the unbounded one can get there. */
const wrapped = (size: number): number => (size >= UNBOUNDED ? UNBOUNDED : size);

/** Every letter escaped, and two quotes: the unbounded one wraps around to nothing. */
const quotedSize = (size: number): number => (size >= UNBOUNDED ? 0 : size * 2 + 2);

function withArguments({ cost, resultSize }: CallEstimate, costs: readonly Estimate[]): CallEstimate {
  const total = costs.reduce(plus, cost);
  return resultSize === undefined ? { cost: total } : { cost: total, resultSize };
}

function unionEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) };
}

function sizeOfLiteral(e: Expr): Estimate | undefined {
  if (e.kind === 'list') return fixed(e.elements.length);
  if (e.kind === 'map') return fixed(e.entries.length);
  if (e.kind !== 'literal') return undefined;
  if (typeof e.value === 'string') return fixed(characters(e.value));
  return fixed(e.value instanceof Uint8Array ? e.value.length : 1);
}

function isScalar(type: CelType): boolean {
  if (isOptionalType(type)) return isScalar(parameter(type, 0));
  return /^(?:bool|double|duration|int|timestamp|uint)$/.test(type.kind);
}

/** A loop over nothing, which only binds a name. */
function isBind({ range, condition, accumulator }: ComprehensionExpr): boolean {
  if (range.kind !== 'list' || range.elements.length > 0 || accumulator === '__result__') return false;
  return condition.kind === 'literal' && condition.value === false;
}
