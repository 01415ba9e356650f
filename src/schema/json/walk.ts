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

/** Members of all objects in a tree. Iterative: the tree may be as deep as the text was. */
export function countKeys(tree: unknown): number {
  if (typeof tree !== 'object' || tree === null) return 0;
  let keys = 0;
  const stack: object[] = [tree];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node instanceof FloatLiteral) continue;
    const values: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    if (values !== node) keys += values.length;
    for (const value of values) if (typeof value === 'object' && value !== null) stack.push(value);
  }
  return keys;
}
