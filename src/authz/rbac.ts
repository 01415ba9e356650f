// Role-based access control: allowed is what some rule allows; there are no rules that deny.
import { LRUCache } from 'lru-cache';
import { eachStep, runCooperatively, type StepGenerator } from '../lib/scheduling/yield.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { aggregateText } from '../machinery/field-error.js';
import type { UserInfo } from '../machinery/user.js';
import type {
  AuthorizationAttributes,
  AuthorizationResult,
  Authorizer,
  NonResourceRule,
  ResourceRule,
  RulesResult,
} from './authorizer.js';
import type { Grant, RbacIndex } from './rbac-index.js';
import { ruleAllows } from './rule-match.js';

/** Nobody is in so many groups; an access review may name so many. */
const MANY_GROUPS = 1000;
/** Users (with their groups) whose grants and decisions are cached. */
const MAX_CACHED_USERS = 2000;
const MAX_CACHED_NAMESPACES_PER_USER = 100;
const MAX_CACHED_DECISIONS_PER_USER = 1000;
/** In characters: anybody may request a path or a name of a megabyte, but nobody requests it again. */
const MAX_MEMOIZED_LENGTH = 1024;
/** Of a user's name and groups together. */
const MAX_MEMOIZED_USER_LENGTH = 64 * 1024;
/** Of all of them together; then the memory begins anew. */
const MAX_MEMOIZED_CHARACTERS = 64 * 1024 * 1024;

interface CachedUser {
  readonly grants: Map<string, readonly Grant[]>;
  readonly decisions: Map<string, AuthorizationResult>;
}

export class RbacAuthorizer implements Authorizer {
  readonly #index: RbacIndex;
  readonly #users = new LRUCache<string, CachedUser>({ max: MAX_CACHED_USERS });
  #version: RbacIndex['version'];
  #characters = 0;

  constructor(index: RbacIndex) {
    this.#index = index;
    this.#version = index.version;
  }

  // hot: on every request (tools/bench-authz.mjs).
  authorize(attributes: AuthorizationAttributes): MaybePromise<AuthorizationResult> {
    const { user, namespace } = attributes;
    if (user.groups.length <= MANY_GROUPS) return this.#decided(attributes);
    return runCooperatively(this.#withBoundGroups(user, namespace)).then((bound) =>
      this.#decided({ ...attributes, user: bound }),
    );
  }

  rulesFor(user: UserInfo, namespace: string): MaybePromise<RulesResult> {
    if (user.groups.length <= MANY_GROUPS) return this.#rulesOf(user, namespace);
    return runCooperatively(this.#withBoundGroups(user, namespace)).then((bound) => this.#rulesOf(bound, namespace));
  }

  /** Groups without bindings grant nothing. */
  *#withBoundGroups(user: UserInfo, namespace: string): StepGenerator<UserInfo> {
    const groups: string[] = [];
    yield* eachStep(user.groups, (group) => {
      if (this.#index.isBound(group, namespace)) groups.push(group);
    });
    return { ...user, groups };
  }

  #decided(attributes: AuthorizationAttributes): AuthorizationResult {
    const cached = this.#cachedUser(attributes.user);
    const key = decisionKey(attributes);
    let decision = cached.decisions.get(key);
    if (decision === undefined) {
      decision = decide(this.#grants(cached, attributes.user, attributes.namespace), attributes);
      this.#keep(cached.decisions, key, decision, MAX_CACHED_DECISIONS_PER_USER);
    }
    return decision;
  }

  #rulesOf(user: UserInfo, namespace: string): RulesResult {
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    const errors: string[] = [];
    for (const grant of this.#grants(this.#cachedUser(user), user, namespace)) {
      if ('error' in grant) {
        errors.push(grant.error);
        continue;
      }
      for (const { verbs, apiGroups = [], resources = [], resourceNames, nonResourceURLs = [] } of grant.rules) {
        if (resources.length > 0) {
          const names = resourceNames === undefined ? {} : { resourceNames };
          resourceRules.push({ verbs: verbs ?? [], apiGroups, resources, ...names });
        }
        if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs: verbs ?? [], nonResourceURLs });
      }
    }
    const evaluationError = errors.length === 0 ? {} : { evaluationError: aggregateText(errors) };
    return { resourceRules, nonResourceRules, incomplete: false, ...evaluationError };
  }

  /** The cache is valid until any role or binding changes. */
  #cachedUser(user: UserInfo): CachedUser {
    if (this.#version !== this.#index.version) {
      this.#version = this.#index.version;
      this.#users.clear();
      this.#characters = 0;
    }
    const key = user.groups.length === 0 ? user.name : `${user.name}\0${user.groups.join('\0')}`;
    let cached = this.#users.get(key);
    if (cached === undefined) {
      cached = { grants: new Map(), decisions: new Map() };
      if (key.length > MAX_MEMOIZED_USER_LENGTH) return cached;
      this.#count(key);
      this.#users.set(key, cached);
    }
    return cached;
  }

  #grants(cached: CachedUser, user: UserInfo, namespace: string): readonly Grant[] {
    let known = cached.grants.get(namespace);
    if (known === undefined) {
      known = this.#index.grantsFor(user, namespace);
      this.#keep(cached.grants, namespace, known, MAX_CACHED_NAMESPACES_PER_USER);
    }
    return known;
  }

  /** Starts afresh when full: cheaper to make than a cache with an order, and every change of a role empties all. */
  #keep<V>(map: Map<string, V>, key: string, value: V, max: number): void {
    if (key.length > MAX_MEMOIZED_LENGTH) return;
    this.#count(key);
    if (map.size >= max) map.clear();
    map.set(key, value);
  }

  #count(key: string): void {
    this.#characters += key.length;
    if (this.#characters <= MAX_MEMOIZED_CHARACTERS) return;
    this.#users.clear();
    this.#characters = key.length;
  }
}

function decide(grants: readonly Grant[], attributes: AuthorizationAttributes): AuthorizationResult {
  const errors: string[] = [];
  /** Of a role that is bound many times: what it does not allow once it never does. */
  const checked = new Set<readonly unknown[]>();
  for (const grant of grants) {
    if ('error' in grant) {
      errors.push(grant.error);
    } else if (!checked.has(grant.rules)) {
      checked.add(grant.rules);
      if (grant.rules.some((rule) => ruleAllows(rule, attributes))) {
        return { decision: 'allow', reason: `RBAC: allowed by ${grant.source}` };
      }
    }
  }
  return { decision: 'no-opinion', reason: errors.length === 0 ? '' : `RBAC: ${aggregateText(errors)}` };
}

const decisionKey = (a: AuthorizationAttributes): string =>
  a.resourceRequest
    ? `${a.verb}\0${a.apiGroup}\0${a.resource}\0${a.subresource}\0${a.namespace}\0${a.name}`
    : `${a.verb}\0${a.namespace}\0${a.path}`;
