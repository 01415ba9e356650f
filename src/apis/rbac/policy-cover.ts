// Whether the rules someone holds cover rules they want to hand out.
import { append } from '../../lib/append.js';
import { goQuote } from '../../lib/go-quote.js';
import { withoutStars } from '../../authz/rule-match.js';
import type { Steps } from '../../lib/turns.js';
import type { PolicyRule } from '../../schema/generated/rbac.v1.js';

/** A rule of a thousand verbs, groups and resources is a billion pieces: so many are told, and so often is one compared. */
const MOST_MISSING = 10_000;
const MOST_COMPARISONS = 1_000_000;
const COMPARISONS_OF_STEP = 4_096;

export interface Uncovered {
  /** Each with one verb and one resource or URL. */
  readonly missing: readonly PolicyRule[];
  /** There is more than this server looks at, covered or not. */
  readonly isCutShort: boolean;
}

/** The part of `wanted` that `held` does not cover. */
export function* uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Steps<Uncovered> {
  const covering = held.map(covererOf);
  const missing: PolicyRule[] = [];
  let comparisons = 0;
  for (const rule of wanted) {
    if (covering.some((covers) => covers(rule))) continue;
    for (const atom of atoms(rule)) {
      const before = comparisons;
      comparisons += 1 + covering.length;
      if (missing.length >= MOST_MISSING || comparisons > MOST_COMPARISONS) return { missing, isCutShort: true };
      if (!covering.some((covers) => covers(atom))) missing.push(atom);
      if (Math.floor(comparisons / COMPARISONS_OF_STEP) > Math.floor(before / COMPARISONS_OF_STEP)) yield;
    }
  }
  return { missing, isCutShort: false };
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

/** Whether a rule covers all of another one. */
function covererOf(rule: PolicyRule): (wanted: PolicyRule) => boolean {
  const verbs = new Set(rule.verbs);
  const groups = new Set(rule.apiGroups);
  const resources = new Set(rule.resources);
  const names = new Set(rule.resourceNames);
  const urls = rule.nonResourceURLs ?? [];
  return (wanted) =>
    coversAll(verbs, wanted.verbs ?? []) &&
    coversAll(groups, wanted.apiGroups ?? []) &&
    (wanted.resources ?? []).every((resource) => coversResource(resources, resource)) &&
    (wanted.nonResourceURLs ?? []).every((url) => coversUrl(urls, url)) &&
    // All names are covered only by a rule without names.
    (names.size === 0 ||
      (wanted.resourceNames?.length && wanted.resourceNames.every((name) => names.has(name))) === true);
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
