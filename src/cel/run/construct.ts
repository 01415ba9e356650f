// Lists, maps and objects written in expressions.
import { LIST_COST, MAP_COST, STRUCT_COST } from '../cost/actual-cost.js';
import { plainText } from './format-value.js';
import type { Evaluate } from './frame.js';
import type { Step } from './step.js';
import type { ObjectTypeDeclaration } from '../environment.js';
import type { ListExpr, MapExpr, StructExpr } from '../syntax/expression.js';
import { ArrayList, CelError, EntryMap, keyIdentity, Optional, typeOf } from '../value.js';
import type { Value } from '../value.js';

interface Construction {
  readonly evaluate: Evaluate;
  /** All parts are constants. */
  readonly constants: boolean;
}

export function planList({ optional }: ListExpr, steps: readonly Step[]): Construction {
  const parts = steps.map((s) => s.evaluate);
  const evaluate: Evaluate = (frame) => {
    const elements: Value[] = [];
    let failed: CelError | undefined;
    for (let i = 0; i < parts.length && failed === undefined; i++) {
      const value = parts[i]?.(frame) ?? null;
      if (value instanceof CelError) failed = value;
      else if (!optional.has(i)) elements.push(value);
      else if (!(value instanceof Optional)) {
        failed = new CelError(`cannot initialize optional list element from non-optional value ${plainText(value)}`);
      } else if (value.value !== undefined) elements.push(value.value);
    }
    frame.charge(LIST_COST);
    return failed ?? new ArrayList(elements);
  };
  return { evaluate, constants: steps.every((s) => s.constant !== undefined) };
}

export function planMap({ entries }: MapExpr, steps: readonly (readonly [Step, Step])[]): Construction {
  const parts = steps.map(([key, value], i) => ({
    key: key.evaluate,
    value: value.evaluate,
    optional: entries[i]?.optional === true,
  }));
  const evaluate: Evaluate = (frame) => {
    const map = new EntryMap();
    let failed: CelError | undefined;
    for (const { key: keyOf, value: valueOf, optional } of parts) {
      const key = keyOf(frame);
      const value = key instanceof CelError ? key : valueOf(frame);
      failed = value instanceof CelError ? value : addEntry(map, key, value, optional);
      if (failed !== undefined) break;
    }
    frame.charge(MAP_COST);
    return failed ?? map;
  };
  return { evaluate, constants: steps.every(([k, v]) => k.constant !== undefined && v.constant !== undefined) };
}

function addEntry(map: EntryMap, key: Value, value: Value, optional: boolean): CelError | undefined {
  if (keyIdentity(key) === undefined) return new CelError(`unsupported key type: ${typeOf(key).name}`);
  if (!optional) {
    map.set(key, value);
    return undefined;
  }
  if (!(value instanceof Optional)) return notOptional(plainText(key), value);
  if (value.value === undefined) map.delete(key);
  else map.set(key, value.value);
  return undefined;
}

const notOptional = (name: string, value: Value): CelError =>
  new CelError(`cannot initialize optional entry '${name}' from non-optional value ${plainText(value)}`);

export function planStruct(
  { typeName, fields }: StructExpr,
  declaration: ObjectTypeDeclaration | undefined,
  steps: readonly Step[],
): Step {
  const make = declaration?.construct?.bind(declaration);
  const evaluate: Evaluate = (frame) => {
    const values = new Map<string, Value>();
    let failed: CelError | undefined;
    for (const [i, { name, optional }] of fields.entries()) {
      const value = steps[i]?.evaluate(frame) ?? null;
      if (value instanceof CelError) failed = value;
      else if (!optional) values.set(name, value);
      else if (!(value instanceof Optional)) failed = notOptional(name, value);
      else if (value.value !== undefined) values.set(name, value.value);
      if (failed !== undefined) break;
    }
    frame.charge(STRUCT_COST);
    return failed ?? make?.(values) ?? new CelError(`unknown type '${typeName}'`);
  };
  return { evaluate };
}
