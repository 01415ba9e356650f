// The policy's rules, compiled to be matched on every request: the first that matches decides.
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import type { GroupResources, Policy, PolicyRule } from '../schema/generated/audit.v1.js';
import type { Level, Stage } from './levels.js';

/** What a rule says is to be recorded of a request. */
export interface Recording {
  readonly level: Level;
  readonly omits: Readonly<Record<Stage, boolean>>;
  readonly omitManagedFields: boolean;
}

/** `user` is the authenticated user, without impersonation; undefined where authentication failed. */
export type EvaluatePolicy = (user: UserInfo | undefined, info: RequestInfo) => Recording;

/** Takes a valid policy. */
export function compilePolicy(policy: Policy): EvaluatePolicy {
  const rules = (policy.rules ?? []).map((rule) => ({
    matches: matcherOf(rule),
    recording: recordingOf(policy, rule),
  }));
  const unmatched = recordingOf(policy, { level: 'None' });
  const decide: EvaluatePolicy = (user, info) => {
    for (const rule of rules) if (rule.matches(user, info)) return rule.recording;
    return unmatched;
  };
  const lastTime = new WeakMap<RequestInfo, { readonly user: UserInfo | undefined; readonly recording: Recording }>();
  // hot: once for each request. Nothing but the user and the request info decides, and frequent ones are the
  // same values each time.
  return (user, info) => {
    const last = lastTime.get(info);
    if (last !== undefined && last.user === user) return last.recording;
    const recording = decide(user, info);
    lastTime.set(info, { user, recording });
    return recording;
  };
}

function recordingOf(policy: Policy, rule: PolicyRule): Recording {
  const omitted = new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]);
  return {
    level: rule.level as Level,
    omits: {
      RequestReceived: omitted.has('RequestReceived'),
      ResponseStarted: omitted.has('ResponseStarted'),
      ResponseComplete: omitted.has('ResponseComplete'),
      Panic: omitted.has('Panic'),
    },
    omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
  };
}

type Matcher = (user: UserInfo | undefined, info: RequestInfo) => boolean;

function matcherOf(rule: PolicyRule): Matcher {
  const checks: Matcher[] = [];
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  if (users.length > 0) {
    const names = new Set(users);
    checks.push((user) => user !== undefined && names.has(user.name));
  }
  if (userGroups.length > 0) {
    const groups = new Set(userGroups);
    checks.push((user) => user !== undefined && user.groups.some((group) => groups.has(group)));
  }
  if (verbs.length > 0) {
    const wanted = new Set(verbs);
    checks.push((_user, info) => wanted.has(info.verb));
  }
  if (namespaces.length > 0 || resources.length > 0) checks.push(resourceMatcher(namespaces, resources));
  else if (nonResourceURLs.length > 0) {
    checks.push((_user, info) => !info.isResourceRequest && nonResourceURLs.some((url) => urlMatches(url, info.path)));
  }
  return (user, info) => checks.every((check) => check(user, info));
}

function resourceMatcher(namespaces: readonly string[], resources: readonly GroupResources[]): Matcher {
  const within = namespaces.length === 0 ? undefined : new Set(namespaces);
  return (_user, info) => {
    // What is in no namespace is in the one named ''.
    if (!info.isResourceRequest || (within !== undefined && !within.has(info.namespace))) return false;
    return resources.length === 0 || resources.some((group) => groupMatches(group, info));
  };
}

function groupMatches({ group = '', resources = [], resourceNames = [] }: GroupResources, info: RequestInfo): boolean {
  if (group !== info.apiGroup) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  return resources.some((resource) => resourceMatches(resource, info));
}

/** `pods`, `pods/log`, `pods/*` (the pods themselves included), `*\/scale` or `*`. */
function resourceMatches(wanted: string, { resource, subresource }: RequestInfo): boolean {
  if (wanted === '*') return true;
  if (wanted === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (subresource !== '' && wanted.startsWith('*/') && wanted.slice(2) === subresource) return true;
  return wanted.endsWith('/*') && wanted.slice(0, -2) === resource;
}

function urlMatches(wanted: string, path: string): boolean {
  if (wanted === '*' || wanted === path) return true;
  return wanted.endsWith('*') && path.startsWith(withoutStars(wanted));
}

function withoutStars(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '*') end--;
  return text.slice(0, end);
}
