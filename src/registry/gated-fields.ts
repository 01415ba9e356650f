// Fields behind feature gates, as tables: what a gate that is off makes the server forget of an object, unless the old
// object already had it.
import { withExplicitEmptyOf } from '../machinery/explicit-empty.js';
import type { FeatureGates } from './kind.js';

export interface GatedField<T> {
  /** The field is kept while one of these is on. */
  readonly gates: readonly string[];
  /** False: there is nothing to drop. Absent where that is not known before. */
  isSet?(object: Readonly<T>): boolean;
  /** The old object has it, so that the new one may keep or change it. */
  inUse(old: Readonly<T>): boolean;
  /** Where `object` shares parts with the old one, those are left as they are. */
  drop(object: T): void;
}

export function dropGatedFields<T extends object>(
  table: readonly GatedField<T>[],
  object: T,
  old: Readonly<T> | undefined,
  features: FeatureGates,
): void {
  for (const field of disabledOf(table, features) as readonly GatedField<T>[]) {
    if (field.isSet?.(object) === false) continue;
    if (old === undefined || !field.inUse(old)) field.drop(object);
  }
}

type Table = readonly GatedField<never>[];

// hot: on every write of a pod. Gates do not change while a server runs.
function disabledOf(table: Table, features: FeatureGates): Table {
  let tables = disabled.get(features);
  if (tables === undefined) disabled.set(features, (tables = new Map()));
  let fields = tables.get(table);
  if (fields === undefined) {
    fields = table.filter(({ gates }) => !gates.some((gate) => features.enabled(gate)));
    tables.set(table, fields);
  }
  return fields;
}

const disabled = new WeakMap<FeatureGates, Map<Table, Table>>();

/**
 * The fields at these paths: `spec.volumes[].image` is the image of every volume. They are in use when one of them has
 * a value, and are dropped together.
 */
export function gated<T extends object>(gate: string | readonly string[], ...paths: string[]): GatedField<T> {
  const parsed = paths.map(parsePath);
  const isSet = (object: Readonly<T>): boolean => {
    for (const path of parsed) if (has(object, path, 0)) return true;
    return false;
  };
  return {
    gates: typeof gate === 'string' ? [gate] : gate,
    isSet,
    inUse: isSet,
    drop(object) {
      for (const path of parsed) if (has(object, path, 0)) dropAt(object, path, 0);
    },
  };
}

/** Dropped whatever the old object has. */
export const gatedAlways = <T extends object>(gate: string | readonly string[], ...paths: string[]): GatedField<T> => ({
  ...gated<T>(gate, ...paths),
  inUse: () => false,
});

interface Step {
  readonly name: string;
  /** The path goes on in each item of the list. */
  readonly each: boolean;
}

const parsePath = (path: string): Step[] =>
  path
    .split('.')
    .map((step) => (step.endsWith('[]') ? { name: step.slice(0, -2), each: true } : { name: step, each: false }));

function has(value: unknown, path: readonly Step[], at: number): boolean {
  const step = path[at];
  if (step === undefined) return value !== undefined && value !== null;
  if (typeof value !== 'object' || value === null) return false;
  const member = (value as Record<string, unknown>)[step.name];
  if (!step.each) return has(member, path, at + 1);
  if (!Array.isArray(member)) return false;
  for (const item of member) if (has(item, path, at + 1)) return true;
  return false;
}

/** Of an object that may be changed; what lies below it is copied where it changes. */
function dropAt(object: object, path: readonly Step[], at: number): void {
  const step = path[at];
  if (step === undefined) return;
  const members = object as Record<string, unknown>;
  if (at + 1 === path.length) {
    delete members[step.name];
    return;
  }
  const copied = (item: object): object => {
    if (!has(item, path, at + 1)) return item;
    const copy = withExplicitEmptyOf(item, { ...item });
    dropAt(copy, path, at + 1);
    return copy;
  };
  const member = members[step.name] as object;
  members[step.name] = Array.isArray(member) ? member.map(copied) : copied(member);
}
