// Whether one rule allows one action.
import { trimEnd } from '../lib/text/trim-end.js';
import type { AuthorizationAttributes } from './authorizer.js';
import type { PolicyRule } from './rbac-objects.js';

// hot: runs for every rule a user has when a decision is not yet known.
export function ruleAllows(rule: Readonly<PolicyRule>, attributes: AuthorizationAttributes): boolean {
  if (!matches(rule.verbs, attributes.verb)) return false;
  if (!attributes.resourceRequest) return matchesUrl(rule.nonResourceURLs, attributes.path);
  return (
    matches(rule.apiGroups, attributes.apiGroup) &&
    matchesResource(rule.resources, attributes.resource, attributes.subresource) &&
    matchesName(rule.resourceNames, attributes.name)
  );
}

function matches(allowed: readonly string[] | null | undefined, wanted: string): boolean {
  if (allowed === null || allowed === undefined) return false;
  return allowed.includes(wanted) || allowed.includes('*');
}

function matchesResource(allowed: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (allowed === undefined) return false;
  if (subresource === '') return allowed.includes(resource) || allowed.includes('*');
  return (
    allowed.includes(`${resource}/${subresource}`) || allowed.includes('*') || allowed.includes(`*/${subresource}`)
  );
}

/** A rule without names is for all. */
const matchesName = (allowed: readonly string[] | undefined, name: string): boolean =>
  allowed === undefined || allowed.length === 0 || allowed.includes(name);

/** `/healthz` is itself; `/healthz/*` is everything below; `*` is everything. */
function matchesUrl(allowed: readonly string[] | undefined, path: string): boolean {
  if (allowed === undefined) return false;
  return allowed.some(
    (url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(withoutStars(url))),
  );
}

export const withoutStars = (url: string): string => trimEnd(url, '*');
