// What calls of Kubernetes' functions cost, once their values are known. The numbers are part of the API: they decide
// which expressions are stopped.
import { REGEX_FACTOR, TRAVERSAL_FACTOR, actualSize } from '../cost/actual-cost.js';
import { checkElements } from '../run/size-limits.js';
import { CelError, CelList, CelMap, OpaqueValue, type Value } from '../value.js';
import { FormatValue } from './format.js';
import {
  ACCESSORS,
  AUTHORIZATION_CHECK_COST,
  KUBERNETES_TYPES,
  LIST_FUNCTIONS,
  PARSERS,
  SELECTOR_BASE_COST,
  SELECTOR_REQUIREMENT_COST,
} from './cost-rules.js';

/** The functions that have a cost here. */
export const PRICED_FUNCTIONS: ReadonlySet<string> = new Set([
  ...ACCESSORS,
  ...LIST_FUNCTIONS,
  ...PARSERS,
  ...'check fieldSelector labelSelector replace split ip.isCanonical join find findAll containsIP containsCIDR'.split(
    ' ',
  ),
  ...'validate _==_'.split(' '),
]);

export function callCost(name: string, overload: string, values: readonly Value[], result: Value): number | undefined {
  const [first = null, second = null] = values;
  if (name === 'check') return AUTHORIZATION_CHECK_COST;
  if (overload === 'cidr_ip' || ACCESSORS.has(name)) return 1;
  if (LIST_FUNCTIONS.has(name)) return traversalCost(first);
  if (PARSERS.has(name)) return traversed(first, 1);
  switch (name) {
    case 'fieldSelector':
    case 'labelSelector':
      return SELECTOR_BASE_COST + traversed(second, 1) + Math.ceil(actualSize(second) / 2) * SELECTOR_REQUIREMENT_COST;
    case 'replace':
    case 'split':
    case 'ip.isCanonical':
      return traversed(first, 2);
    case 'join':
      return traversed(result, 2);
    case 'find':
    case 'findAll':
      return matched(first, actualSize(second));
    case 'containsIP':
      return blockCost(first) + (overload === 'cidr_contains_ip_string' ? traversed(second, 1) : 0);
    case 'containsCIDR':
      return (
        blockCost(first) +
        traversed(first, 1) +
        1 +
        (overload === 'cidr_contains_cidr_string' ? traversed(second, 1) : 0)
      );
    case 'validate':
      return first instanceof FormatValue ? matched(second, first.patternLength) : undefined;
    case '_==_':
      return first instanceof OpaqueValue && KUBERNETES_TYPES.has(first.type.name) ? 1 : undefined;
    default:
      return undefined;
  }
}

/** Comparing as many bytes as the block's prefix has, on both sides. */
const blockCost = (block: Value): number => Math.ceil(actualSize(block) * 2 * TRAVERSAL_FACTOR);

const traversed = (value: Value, times: number): number => Math.ceil(actualSize(value) * times * TRAVERSAL_FACTOR);

const matched = (text: Value, patternLength: number): number =>
  Math.ceil((1 + actualSize(text)) * TRAVERSAL_FACTOR) * Math.ceil(patternLength * REGEX_FACTOR);

/** Going through a value as a tree, which may be large where a list's elements are one list, and so on. */
function traversalCost(value: Value): number {
  let visited = 0;
  const visit = (part: Value): number => {
    visited += 1;
    checkElements(visited);
    if (typeof part === 'string') return Math.floor(Buffer.byteLength(part) * TRAVERSAL_FACTOR);
    if (part instanceof Uint8Array) return Math.floor(part.length * TRAVERSAL_FACTOR);
    let cost = 0;
    if (part instanceof CelList) for (const element of part) cost += visit(element);
    else if (part instanceof CelMap) {
      for (const key of part.keys()) cost += visit(key) + visit(part.find(key) ?? new CelError(''));
    } else return 1;
    return cost;
  };
  return visit(value);
}
