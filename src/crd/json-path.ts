// What the paths of columns and selectable fields find: `.spec.ports[0].name`,
// `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels['example\.test/name']`.
import { isPlainObject, ownMember } from '../lib/values/plain-object.js';
import { JsonPathError, type JsonPathNode, parseJsonPath as parseTemplate } from '../machinery/json-path.js';

/**
 * Finds values, in the order of the document; none where a member is missing, a step does not fit what it is at, or the
 * budget is spent.
 */
export type JsonPath = (root: unknown, budget?: PathBudget) => readonly unknown[];

/** How much may still be looked at. */
export interface PathBudget {
  left: number;
}

/** `..*..*` finds some things many times over: beyond this many paths find nothing. */
export const MAX_LOOKED_AT = 200_000;

/** Undefined for a text that is no path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  let nodes: readonly JsonPathNode[];
  try {
    nodes = parseTemplate(`{${text}}`).slice(0, 1);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
  return (root, budget = { left: MAX_LOOKED_AT }) => {
    try {
      return walk([root], nodes, budget);
    } catch (error) {
      if (error instanceof Unfit) return [];
      throw error;
    }
  };
}

/** A step that is not possible from here, or too many of them. */
class Unfit extends Error {}

function walk(input: readonly unknown[], nodes: readonly JsonPathNode[], budget: PathBudget): readonly unknown[] {
  let values = input;
  for (const node of nodes) {
    spend(budget, values.length);
    values = step(values, node, budget);
    spend(budget, values.length);
  }
  return values;
}

function spend(budget: PathBudget, count: number): void {
  budget.left -= count;
  if (budget.left < 0) throw new Unfit();
}

function step(input: readonly unknown[], node: JsonPathNode, budget: PathBudget): readonly unknown[] {
  switch (node.kind) {
    case 'list':
      return walk(input, node.nodes, budget);
    case 'field':
      return input.flatMap((value) => {
        const member = isPlainObject(value) ? ownMember(value, node.name) : undefined;
        return member === undefined ? [] : [member];
      });
    case 'wildcard':
      return input.flatMap(children);
    case 'recursive':
      return descendants(input, budget);
    case 'slice':
      return input.flatMap((value) => slice(value, node));
    case 'union':
      return node.members.flatMap((member) => walk(input, member, budget));
    case 'filter':
      return input.flatMap((value) => listOf(value).filter((item) => passes(item, node, budget)));
    case 'text':
      return input.map(() => node.text);
    case 'number':
    case 'bool':
      return input.map(() => node.value);
    case 'identifier':
      throw new Unfit();
  }
}

const children = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : isPlainObject(value)
      ? Object.keys(value)
          .sort()
          .map((key) => value[key])
      : [];

/** Everything that holds something, outermost first. */
function descendants(values: readonly unknown[], budget: PathBudget): unknown[] {
  const found: unknown[] = [];
  const waiting = [...values].reverse();
  while (waiting.length > 0) {
    const value = waiting.pop();
    const inside = children(value);
    if (inside.length === 0) continue;
    spend(budget, inside.length);
    found.push(value);
    for (let i = inside.length - 1; i >= 0; i--) waiting.push(inside[i]);
  }
  return found;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unfit();
  return value;
}

function slice(value: unknown, node: Extract<JsonPathNode, { kind: 'slice' }>): readonly unknown[] {
  if (value === null || value === undefined) return [];
  const list = listOf(value);
  const { from = 0, to = list.length, step: every = 1 } = node;
  const start = from < 0 ? from + list.length : from;
  // A lone -1 is a slice up to 0, which means the end.
  const end = to < 0 || (to === 0 && from === -1) ? to + list.length : to;
  if (start === end) return [];
  if (start < 0 || start >= list.length || end > list.length || start > end || every <= 0) throw new Unfit();
  return list.slice(start, end).filter((_, i) => i % every === 0);
}

function passes(item: unknown, node: Extract<JsonPathNode, { kind: 'filter' }>, budget: PathBudget): boolean {
  const left = walk([item], node.left, budget);
  if (node.operator === 'exists') return left.length > 0;
  const right = walk([item], node.right, budget);
  if (left.length > 1 || right.length > 1) throw new Unfit();
  return left.length === 1 && right.length === 1 && compare(left[0], right[0], node.operator);
}

function compare(left: unknown, right: unknown, operator: string): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  const comparable =
    (typeof left === 'number' && typeof right === 'number') || (typeof left === 'string' && typeof right === 'string');
  if (!comparable) throw new Unfit();
  if (operator === '<') return left < right;
  if (operator === '>') return left > right;
  if (operator === '<=') return left <= right;
  if (operator === '>=') return left >= right;
  throw new Unfit();
}
