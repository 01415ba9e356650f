// Whether the rules someone holds cover rules they want to hand out.
import { goQuote } from '../../lib/go-quote.js';
import { withoutStars } from '../../authz/rule-match.js';
import type { PolicyRule } from '../../schema/generated/rbac.v1.js';

/** The part of `wanted` that `held` does not cover, each piece with one verb and one resource or URL. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** Missing rules in words: one line for each resource, its verbs together, in order. */
export function describeRules(rules: readonly PolicyRule[]): string {
  const lines = new Set(joinVerbs(rules).map(describeRule));
  return [...lines].toSorted().join('\n');
}

/** `["a" "b"]` */
export const quotedList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;

function atoms(rule: PolicyRule): PolicyRule[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = rule.verbs ?? [];
  const pieces: PolicyRule[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const piece = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) pieces.push(piece);
        for (const name of resourceNames) pieces.push({ ...piece, resourceNames: [name] });
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) pieces.push({ verbs: [verb], nonResourceURLs: [url] });
  return pieces;
}

function covers(rule: PolicyRule, atom: PolicyRule): boolean {
  const names = rule.resourceNames ?? [];
  return (
    coversAll(rule.verbs ?? [], atom.verbs ?? []) &&
    coversAll(rule.apiGroups ?? [], atom.apiGroups ?? []) &&
    (atom.resources ?? []).every((resource) => coversResource(rule.resources ?? [], resource)) &&
    (atom.nonResourceURLs ?? []).every((url) => coversUrl(rule.nonResourceURLs ?? [], url)) &&
    // All names are covered only by a rule without names.
    (names.length === 0 || (atom.resourceNames ?? []).some((name) => names.includes(name)))
  );
}

const coversAll = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') || wanted.every((value) => held.includes(value));

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes('*') || held.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

const coversUrl = (held: readonly string[], url: string): boolean =>
  held.some((own) => own === url || (own.endsWith('*') && url.startsWith(withoutStars(own))));

function joinVerbs(rules: readonly PolicyRule[]): PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs !== undefined) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const known = joined.get(key);
    joined.set(key, known === undefined ? rule : { ...known, verbs: [...(known.verbs ?? []), ...(rule.verbs ?? [])] });
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
