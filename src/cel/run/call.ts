// Calls of functions: choosing the overload by the values at hand, and paying for the call.
import type { CallCost } from '../cost/actual-cost.js';
import { defaultCallCost } from '../cost/actual-cost.js';
import type { DeclaredFunction, DeclaredOverload } from '../check/declarations.js';
import type { Evaluate, Frame, Pace } from './frame.js';
import type { CostModel } from '../library.js';
import { CelType, DYN, parameter } from '../type.js';
import { CelError, CelList, CelMap, Duration, noSuchOverload, Timestamp, typeOf, Uint } from '../value.js';
import type { Value } from '../value.js';

export interface Call {
  readonly declared: DeclaredFunction;
  /** The only overload the checker found; undefined when the values decide. */
  readonly overload: DeclaredOverload | undefined;
  readonly member: boolean;
  readonly costs: CostModel | undefined;
}

type Implementation = (...values: Value[]) => Value;

/** A function of values, which are no errors. */
export function dispatcher({ declared, overload, member }: Call, count: number): Implementation {
  const fitting = declared.overloads.filter((o) => (o.member === true) === member && o.parameters.length === count);
  const candidates = (overload === undefined ? fitting : [overload]).map((o) => ({
    // The guards are what makes calling with any values sound.
    call: o.call as unknown as Implementation,
    guards: (o.guarded ?? o.parameters).map(guard),
  }));
  const failure = noMatch(declared, fitting);
  const [only] = candidates;
  if (candidates.length === 1 && only !== undefined) {
    const { call, guards } = only;
    const [first, second] = guards;
    if (count === 1 && first !== undefined) return (a) => (first(a ?? null) ? call(a ?? null) : failure([a ?? null]));
    if (count === 2 && first !== undefined && second !== undefined) {
      return (a = null, b = null) => (first(a) && second(b) ? call(a, b) : failure([a, b]));
    }
  }
  return (...values) => {
    for (const { call, guards } of candidates) {
      if (guards.every((fits, i) => fits(values[i] ?? null))) return call(...values);
    }
    return failure(values);
  };
}

/** Calls a function that may be slow, if it is one: it reports each part to the frame. */
export function pacedDispatcher(
  { declared, overload, member }: Call,
  count: number,
): ((pace: Pace, ...values: Value[]) => Value) | undefined {
  const fitting = declared.overloads.filter((o) => (o.member === true) === member && o.parameters.length === count);
  const long = (overload === undefined ? fitting : [overload]).filter(({ paced }) => paced);
  if (long.length === 0) return undefined;
  const candidates = long.map((o) => ({
    call: o.call as unknown as (...values: (Value | Pace)[]) => Value,
    guards: (o.guarded ?? o.parameters).map(guard),
  }));
  const failure = noMatch(declared, fitting);
  return (pace, ...values) => {
    const found = candidates.find(({ guards }) => guards.every((fits, i) => fits(values[i] ?? null)));
    return found === undefined ? failure(values) : found.call(...values, pace);
  };
}

/** The error for values that no overload accepts. */
function noMatch(
  declared: DeclaredFunction,
  fitting: readonly DeclaredOverload[],
): (values: readonly Value[]) => CelError {
  switch (declared.dispatch) {
    case 'plain':
      return noSuchOverload;
    case 'operand': {
      const operands = [isReceiver, ...fitting.map((o) => guard((o.guarded ?? o.parameters)[0] ?? DYN))];
      const named = new CelError(`no such overload: ${declared.name}`);
      return ([first = null]) => (operands.some((fits) => fits(first)) ? noSuchOverload() : named);
    }
    default:
      return (values) =>
        new CelError(`no such overload: ${declared.name}(${values.map((v) => typeOf(v).name).join(', ')})`);
  }
}

/** A value with functions of its own receives every call, whatever its name. */
const isReceiver = (value: Value): boolean =>
  typeof value === 'string' || value instanceof Timestamp || value instanceof Duration;

/** Whether a value is of a parameter's kind; a list is of the kind of what comes first in it. */
function guard(type: CelType): (value: Value) => boolean {
  switch (type.kind) {
    case 'bool':
      return (v) => typeof v === 'boolean';
    case 'int':
      return (v) => typeof v === 'bigint';
    case 'double':
      return (v) => typeof v === 'number';
    case 'string':
      return (v) => typeof v === 'string';
    case 'null':
      return (v) => v === null;
    case 'uint':
      return (v) => v instanceof Uint;
    case 'bytes':
      return (v) => v instanceof Uint8Array;
    case 'list': {
      const element = guard(parameter(type, 0));
      return (v) => v instanceof CelList && (v.size === 0 || element(v.at(0)));
    }
    case 'map':
      return (v) => v instanceof CelMap;
    case 'timestamp':
      return (v) => v instanceof Timestamp;
    case 'duration':
      return (v) => v instanceof Duration;
    case 'type':
      return (v) => v instanceof CelType;
    case 'opaque':
    case 'struct':
      return (v) => v !== null && typeof v === 'object' && typeOf(v).name === type.name;
    default:
      return () => true;
  }
}

/** What a call costs; undefined when it is always one. */
export function callCost({ declared, overload, costs }: Call, known = overload?.id ?? ''): CallCost | undefined {
  const own = overload?.cost;
  const priced = costs?.callCost !== undefined && (costs.pricedFunctions?.has(declared.name) ?? true);
  const fallback = defaultCallCost(known);
  if (own === undefined && !priced) return fallback;
  return (values, result) =>
    own?.(values, result) ??
    (priced ? costs?.callCost?.(declared.name, known, values, result) : undefined) ??
    fallback?.(values, result) ??
    1;
}

export function planZero(implementation: Implementation, cost: CallCost | undefined): Evaluate {
  return (frame) => {
    const result = implementation();
    frame.charge(cost === undefined ? 1 : cost([], result));
    return result;
  };
}

// hot: with planComparison, most steps of most expressions.
export function planUnary(implementation: Implementation, cost: CallCost | undefined, argument: Evaluate): Evaluate {
  return (frame) => {
    const value = argument(frame);
    frame.begin(value);
    const result = value instanceof CelError ? value : implementation(value);
    frame.charge(cost === undefined ? 1 : cost([value], result));
    return result;
  };
}

/** Of two values, by a function that may be slow: it reports its rounds to the frame. */
export function planComparison(
  compare: (frame: Frame, a: Value, b: Value) => Value,
  cost: CallCost | undefined,
  left: Evaluate,
  right: Evaluate,
): Evaluate {
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    frame.begin(a);
    frame.begin(b);
    const result = a instanceof CelError ? a : b instanceof CelError ? b : compare(frame, a, b);
    frame.charge(cost === undefined ? 1 : cost([a, b], result));
    return result;
  };
}

/** Stops at the first error; the call is then not paid for, unless it was the last argument. */
export function planMany(
  implementation: (frame: Frame, ...values: Value[]) => Value,
  cost: CallCost | undefined,
  args: readonly Evaluate[],
): Evaluate {
  return (frame) => {
    const values: Value[] = [];
    let error: CelError | undefined;
    for (const argument of args) {
      const value = argument(frame);
      frame.begin(value);
      values.push(value);
      if (!(value instanceof CelError)) continue;
      if (values.length < args.length) return value;
      error = value;
    }
    const result = error ?? implementation(frame, ...values);
    frame.charge(cost === undefined ? 1 : cost(values, result));
    return result;
  };
}
