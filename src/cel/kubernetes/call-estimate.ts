// What calls of Kubernetes' functions may cost, judged before they run. The numbers are part of the API: they decide
// which rules a definition may have.
import { REGEX_FACTOR, TRAVERSAL_FACTOR } from '../cost/actual-cost.js';
import { fixed, plus, times, timesFactor } from '../cost/estimates.js';
import type { CallEstimate, CallToEstimate, Estimate, EstimatedNode } from '../library.js';
import { type CelType, parameter, sameType } from '../type.js';
import {
  ACCESSORS,
  AUTHORIZATION_CHECK_COST,
  KUBERNETES_TYPES,
  LIST_FUNCTIONS,
  PARSERS,
  SELECTOR_BASE_COST,
  SELECTOR_REQUIREMENT_COST,
} from './cost-rules.js';

/** The longest pattern a named format may stand for. */
const FORMAT_PATTERN_LENGTH = 128;
const MAX_FORMAT_NAME_LENGTH = 64;
/** An address in bytes. */
const ADDRESS: Estimate = { min: 4, max: 16 };

export function estimateCall(call: CallToEstimate): CallEstimate | undefined {
  const { function: name, overload, target, args } = call;
  const [first] = args;
  if (name === 'check') return { cost: fixed(AUTHORIZATION_CHECK_COST) };
  if (overload === 'cidr_ip' || ACCESSORS.has(name)) return { cost: fixed(1) };
  if (LIST_FUNCTIONS.has(name)) return target && { cost: traversal(target, call) };
  if (PARSERS.has(name)) return estimateParser(call);
  switch (name) {
    case 'fieldSelector':
    case 'labelSelector':
      return args.length === 1 && first !== undefined ? { cost: selectorCost(call.sizeOf(first)) } : undefined;
    case 'replace':
      return estimateReplace(call);
    case 'split':
      return target && estimateSplit(target, call);
    case 'join':
      return target && estimateJoin(target, call);
    case 'find':
    case 'findAll':
      return target && first && estimateFind(target, first, call);
    case 'ip.isCanonical':
      return first && { cost: timesFactor(call.sizeOf(first), 2 * TRAVERSAL_FACTOR) };
    case 'containsIP':
      return first && { cost: plus(timesFactor(plus(ADDRESS, ADDRESS), TRAVERSAL_FACTOR), parsing(first, call)) };
    case 'containsCIDR': {
      const masking = plus(timesFactor(ADDRESS, TRAVERSAL_FACTOR), fixed(1));
      const comparing = plus(timesFactor(plus(ADDRESS, ADDRESS), TRAVERSAL_FACTOR), masking);
      return first && { cost: plus(comparing, parsing(first, call)) };
    }
    case 'validate': {
      const pattern = FORMAT_PATTERN_LENGTH * REGEX_FACTOR;
      return first && { cost: timesFactor(timesFactor(call.sizeOf(first), TRAVERSAL_FACTOR), pattern) };
    }
    case '_==_':
      return estimateEquality(args);
    default:
      return undefined;
  }
}

/** Functions called on a string return no more than its size; others make something that is no string. */
const SAME_SIZE = new Set(['url', 'jsonpatch.escapeKey']);
const ON_RECEIVER = new Set(['lowerAscii', 'upperAscii', 'substring', 'trim']);

function estimateParser(call: CallToEstimate): CallEstimate | undefined {
  const onReceiver = ON_RECEIVER.has(call.function);
  const read = onReceiver ? call.target : call.args[0];
  if (read === undefined || (SAME_SIZE.has(call.function) && call.args.length !== 1)) return undefined;
  const size = call.sizeOf(read);
  const cost = timesFactor(size, TRAVERSAL_FACTOR);
  return onReceiver || SAME_SIZE.has(call.function) ? { cost, resultSize: size } : { cost };
}

/** One comparison for each element, and going through it where it is a string. */
function traversal(target: EstimatedNode, call: CallToEstimate): Estimate {
  const element = elementOf(target);
  const size = call.sizeOf(target);
  if (element === undefined) return timesFactor(size, TRAVERSAL_FACTOR);
  if (element.kind !== 'string' && element.kind !== 'bytes') return times(size, fixed(1));
  const reading = timesFactor(call.sizeBelow(target, '@items', element), TRAVERSAL_FACTOR);
  return times(size, plus(fixed(1), reading));
}

const elementOf = ({ type }: EstimatedNode): CelType | undefined =>
  type.parameters.length > 0 ? parameter(type, 0) : undefined;

function selectorCost(length: Estimate): Estimate {
  const requirements = timesFactor(timesFactor(length, 0.5), SELECTOR_REQUIREMENT_COST);
  return plus(plus(fixed(SELECTOR_BASE_COST), timesFactor(length, TRAVERSAL_FACTOR)), requirements);
}

function estimateReplace({ target, args, sizeOf }: CallToEstimate): CallEstimate | undefined {
  const [from, to] = args;
  if (target === undefined || from === undefined || to === undefined) return undefined;
  const size = sizeOf(target);
  const replaced = sizeOf(from);
  const replacement = sizeOf(to);
  const most = replacements(size.max, replaced.min, replacement.max <= replaced.min);
  const fewest = replacements(size.min, replaced.max, replaced.max <= replacement.min);
  const count = { min: fewest.count, max: most.count };
  const kept = { min: fewest.kept, max: most.kept };
  return { cost: timesFactor(size, 2 * TRAVERSAL_FACTOR), resultSize: plus(times(count, replacement), kept) };
}

/** How many replacements make the result longest or shortest, and how much of the text stays beside them. */
function replacements(length: number, replaced: number, noGain: boolean): { count: number; kept: number } {
  // An empty text is found around every character.
  if (replaced === 0) return { count: length + 1, kept: length };
  if (noGain) return { count: 0, kept: length };
  return { count: Math.ceil(length / replaced), kept: 0 };
}

/** At worst every character is an element. */
function estimateSplit(target: EstimatedNode, { args, sizeOf }: CallToEstimate): CallEstimate {
  const size = sizeOf(target);
  const limit = args[1]?.expression;
  const stated = limit?.kind === 'literal' && typeof limit.value === 'bigint' ? limit.value : undefined;
  const max = stated === undefined ? size.max : Number(BigInt.asUintN(64, stated));
  return { cost: timesFactor(size, 2 * TRAVERSAL_FACTOR), resultSize: { min: 0, max } };
}

function estimateJoin(target: EstimatedNode, call: CallToEstimate): CallEstimate {
  const count = call.sizeOf(target);
  const element = elementOf(target);
  const [separator] = call.args;
  let size = element === undefined ? fixed(0) : times(count, call.sizeBelow(target, '@items', element));
  if (separator !== undefined) {
    const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
    size = plus(size, times(call.sizeOf(separator), between));
  }
  return { cost: timesFactor(size, TRAVERSAL_FACTOR), resultSize: size };
}

function estimateFind(target: EstimatedNode, pattern: EstimatedNode, { sizeOf }: CallToEstimate): CallEstimate {
  const size = sizeOf(target);
  const reading = timesFactor(plus(size, fixed(1)), TRAVERSAL_FACTOR);
  const cost = times(reading, timesFactor(sizeOf(pattern), REGEX_FACTOR));
  return { cost, resultSize: { min: 0, max: size.max } };
}

/** An address or a block that is still a string is read first. */
function parsing(argument: EstimatedNode, { overload, sizeOf }: CallToEstimate): Estimate {
  return overload.endsWith('_string') ? timesFactor(sizeOf(argument), TRAVERSAL_FACTOR) : fixed(0);
}

function estimateEquality([left, right]: readonly EstimatedNode[]): CallEstimate | undefined {
  if (left === undefined || right === undefined || !sameType(left.type, right.type)) return undefined;
  const { name } = left.type;
  if (name === 'kubernetes.NamedFormat')
    return { cost: timesFactor({ min: 1, max: MAX_FORMAT_NAME_LENGTH }, TRAVERSAL_FACTOR) };
  if (name === 'kubernetes.URL') return { cost: timesFactor({ min: 1, max: right.size?.max ?? 1 }, TRAVERSAL_FACTOR) };
  return KUBERNETES_TYPES.has(name) ? { cost: fixed(1) } : undefined;
}
