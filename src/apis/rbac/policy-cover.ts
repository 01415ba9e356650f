// Whether the rules someone holds cover rules they want to hand out.
import { append } from '../../lib/values/append.js';
import { goQuote } from '../../lib/go/quote.js';
import { withoutStars } from '../../authz/rule-match.js';
import { eachStep, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { PolicyRule } from '../../schema/generated/rbac.v1.js';

/** A rule of a thousand verbs, groups and resources is a billion pieces. */
export interface CoverLimits {
  /** So many pieces are reported. */
  readonly missing: number;
  /** So often is a piece compared. */
  readonly comparisons: number;
  /** So often is a rule compared as it is. */
  readonly wholeComparisons: number;
}

/** Those of one who has thousands of rules are few of so many. */
const LIMITS: CoverLimits = { missing: 10_000, comparisons: 1_000_000, wholeComparisons: 10_000_000 };
const COMPARISONS_OF_STEP = 4_096;

export interface Uncovered {
  /** Each with one verb and one resource or URL. */
  readonly missing: readonly PolicyRule[];
  /** There is more than this server looks at, covered or not. */
  readonly isCutShort: boolean;
}

/** The part of `wanted` that `held` does not cover. */
export function* uncoveredRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  limits: CoverLimits = LIMITS,
): StepGenerator<Uncovered> {
  const sets: Sets = new Map();
  const covering: Covers[] = [];
  const own = new Set<string>();
  yield* eachStep(held, (rule) => {
    covering.push(covererOf(rule, sets));
    if (isShort(rule)) own.add(keyOf(rule));
  });
  const missing: PolicyRule[] = [];
  let wholes = 0;
  let pieces = 0;
  for (const rule of wanted) {
    if (isShort(rule) && own.has(keyOf(rule))) {
      yield;
      continue;
    }
    const whole = yield* coveredBy(covering, rule);
    wholes += whole.comparisons;
    if (wholes > limits.wholeComparisons) return { missing, isCutShort: true };
    if (whole.isCovered) continue;
    for (const atom of atoms(rule)) {
      pieces += 1 + covering.length;
      if (missing.length >= limits.missing || pieces > limits.comparisons) return { missing, isCutShort: true };
      if (!(yield* coveredBy(covering, atom)).isCovered) missing.push(atom);
    }
  }
  return { missing, isCutShort: false };
}

/** Most rules are: who hands out thousands of their own is not kept waiting for each to be held against each. */
const isShort = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): boolean =>
  [verbs, apiGroups, resources, resourceNames, nonResourceURLs].every((list) => (list?.length ?? 0) <= 50);

const keyOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs ?? [], apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);

type Covers = (wanted: PolicyRule) => boolean;

function* coveredBy(
  covering: readonly Covers[],
  rule: PolicyRule,
): StepGenerator<{ readonly isCovered: boolean; readonly comparisons: number }> {
  let comparisons = 0;
  // A rule may have a hundred thousand names.
  yield;
  for (const covers of covering) {
    if (covers(rule)) return { isCovered: true, comparisons };
    if (++comparisons % COMPARISONS_OF_STEP === 0) yield;
  }
  return { isCovered: false, comparisons };
}

/** Missing rules in words: one line for each resource, its verbs together, in order. */
export function describeRules(rules: readonly PolicyRule[]): string {
  const lines = new Set(joinVerbs(rules).map(describeRule));
  return [...lines].toSorted().join('\n');
}

/** `["a" "b"]` */
export const quotedList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;

function* atoms(rule: PolicyRule): Iterable<PolicyRule> {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = rule.verbs ?? [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const piece = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield piece;
        for (const name of resourceNames) yield { ...piece, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] };
}

/** Of the lists in roles: one that is bound many times has them once. */
type Sets = Map<readonly string[], ReadonlySet<string>>;

const NONE: readonly string[] = [];

/** Whether a rule covers all of another one. */
function covererOf(rule: PolicyRule, sets: Sets): Covers {
  const setOf = (values: readonly string[] | undefined | null): ReadonlySet<string> => {
    const list = values ?? NONE;
    let set = sets.get(list);
    if (set === undefined) sets.set(list, (set = new Set(list)));
    return set;
  };
  const urls = rule.nonResourceURLs ?? [];
  return (wanted) => {
    if (!coversAll(setOf(rule.verbs), wanted.verbs ?? [])) return false;
    if (!coversAll(setOf(rule.apiGroups), wanted.apiGroups ?? [])) return false;
    const resources = setOf(rule.resources);
    if (!(wanted.resources ?? []).every((resource) => coversResource(resources, resource))) return false;
    if (!(wanted.nonResourceURLs ?? []).every((url) => coversUrl(urls, url))) return false;
    // All names are covered only by a rule without names.
    const names = setOf(rule.resourceNames);
    if (names.size === 0) return true;
    const { resourceNames = [] } = wanted;
    return resourceNames.length > 0 && resourceNames.every((name) => names.has(name));
  };
}

const coversAll = (held: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  held.has('*') || wanted.every((value) => held.has(value));

function coversResource(held: ReadonlySet<string>, resource: string): boolean {
  if (held.has('*') || held.has(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.has(`*${resource.slice(slash)}`);
}

const coversUrl = (held: readonly string[], url: string): boolean =>
  held.some((own) => own === url || (own.endsWith('*') && url.startsWith(withoutStars(own))));

function joinVerbs(rules: readonly PolicyRule[]): PolicyRule[] {
  const joined = new Map<string, PolicyRule & { readonly verbs: string[] }>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs !== undefined) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { ...rule, verbs: [...(rule.verbs ?? [])] });
    else append(known.verbs, rule.verbs ?? []);
  }
  return [...others, ...joined.values()];
}

function describeRule(rule: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups ?? []],
    ['Resources', rule.resources ?? []],
    ['NonResourceURLs', rule.nonResourceURLs ?? []],
    ['ResourceNames', rule.resourceNames ?? []],
    ['Verbs', rule.verbs ?? []],
  ];
  const shown = parts.filter(([, values]) => values.length > 0);
  return `{${shown.map(([name, values]) => `${name}:${quotedList(values)}`).join(', ')}}`;
}
