// What the walks over a tree share.
import { FloatLiteral } from '../../lib/json/float-literal.js';
import type { Type } from '../type.js';

/** The body cannot be read as the type; the message is kube-apiserver's. */
export class DecodeError extends Error {
  constructor(
    message: string,
    /** What stands where something else is wanted, when that is why. */
    readonly mismatch?: { readonly type: Type; readonly value: unknown },
  ) {
    super(message);
  }
}

/** A JSON value of the wrong sort. Where it stands is found out afterwards. */
export class Mismatch extends Error {
  constructor(readonly value: unknown) {
    super('json: cannot unmarshal');
  }
}

/** What is counted during a walk. */
export interface Walk {
  keys: number;
  unknown: number;
  readonly count: boolean;
  /** Members that were decoded before what holds them. */
  readonly done?: ReadonlySet<unknown> | undefined;
}

/** Members of all objects in a tree, which is no deeper than a text may be. */
export function countKeys(tree: unknown): number {
  if (typeof tree !== 'object' || tree === null || tree instanceof FloatLiteral) return 0;
  let keys = 0;
  if (Array.isArray(tree)) {
    for (const item of tree) keys += countKeys(item);
    return keys;
  }
  const members = tree as Readonly<Record<string, unknown>>;
  for (const name in members) {
    keys++;
    const member = members[name];
    if (typeof member === 'object' && member !== null) keys += countKeys(member);
  }
  return keys;
}
