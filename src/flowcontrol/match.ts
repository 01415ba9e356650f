// Which flow schema a request belongs to: the first, by precedence and then by name, one of whose rules matches.
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../schema/generated/flowcontrol.v1.js';

export interface Ranked {
  readonly name: string;
  readonly spec: FlowSchemaSpec;
}

export const byPrecedence = (a: Ranked, b: Ranked): number =>
  a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

interface Rule {
  /** Place of its schema in the order. */
  readonly rank: number;
  readonly resourceRules: readonly ResourcePolicyRule[];
  readonly nonResourceRules: readonly NonResourcePolicyRule[];
}

/** Rules by whom they are for, so that only those that may concern a request are looked at. */
export class SchemaMatcher {
  readonly #everybody: Rule[] = [];
  readonly #users = new Map<string, Rule[]>();
  readonly #groups = new Map<string, Rule[]>();
  readonly #accountNamespaces = new Map<string, Rule[]>();

  /** In order: the first schema first. */
  constructor(schemas: readonly Ranked[]) {
    schemas.forEach(({ spec }, rank) => {
      for (const rules of spec.rules ?? []) this.#add(rank, rules);
    });
  }

  // hot: every request
  /** The place of the schema that matches; undefined when none does. */
  match(info: RequestInfo, user: UserInfo): number | undefined {
    let best = firstMatch(this.#everybody, info, Infinity);
    best = firstMatch(this.#users.get(user.name), info, best);
    for (const group of user.groups) best = firstMatch(this.#groups.get(group), info, best);
    if (this.#accountNamespaces.size > 0 && user.name.startsWith(ACCOUNT_PREFIX)) {
      const end = user.name.indexOf(':', ACCOUNT_PREFIX.length);
      const namespace = end < 0 ? undefined : user.name.slice(ACCOUNT_PREFIX.length, end);
      if (namespace !== undefined) best = firstMatch(this.#accountNamespaces.get(namespace), info, best);
    }
    return best === Infinity ? undefined : best;
  }

  #add(rank: number, { subjects, resourceRules, nonResourceRules }: PolicyRulesWithSubjects): void {
    const rule = { rank, resourceRules: resourceRules ?? [], nonResourceRules: nonResourceRules ?? [] };
    for (const subject of subjects ?? []) this.#listOf(subject)?.push(rule);
  }

  #listOf({ kind, user, group, serviceAccount }: Subject): Rule[] | undefined {
    switch (kind) {
      case 'User':
        return user == null ? undefined : user.name === '*' ? this.#everybody : listIn(this.#users, user.name);
      case 'Group':
        return group == null ? undefined : group.name === '*' ? this.#everybody : listIn(this.#groups, group.name);
      case 'ServiceAccount':
        if (serviceAccount == null) return undefined;
        return serviceAccount.name === '*'
          ? listIn(this.#accountNamespaces, serviceAccount.namespace)
          : listIn(this.#users, `${ACCOUNT_PREFIX}${serviceAccount.namespace}:${serviceAccount.name}`);
      default:
        return undefined;
    }
  }
}

const ACCOUNT_PREFIX = 'system:serviceaccount:';

function listIn(map: Map<string, Rule[]>, key: string): Rule[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}

/** The lists are in order: nothing behind `best` is of interest. */
function firstMatch(rules: readonly Rule[] | undefined, info: RequestInfo, best: number): number {
  if (rules === undefined) return best;
  for (const rule of rules) {
    if (rule.rank >= best) return best;
    const matches = info.isResourceRequest
      ? rule.resourceRules.some((one) => matchesResource(one, info))
      : rule.nonResourceRules.some((one) => matchesPath(one, info));
    if (matches) return rule.rank;
  }
  return best;
}

function matchesResource(rule: ResourcePolicyRule, info: RequestInfo): boolean {
  if (!hasOrAll(rule.verbs, info.verb)) return false;
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  if (!hasOrAll(rule.resources, resource) || !hasOrAll(rule.apiGroups, info.apiGroup)) return false;
  return info.namespace === '' ? rule.clusterScope === true : hasOrAll(rule.namespaces, info.namespace);
}

/** A path stands for all that lies below it as well, with a star at its end or without. */
function matchesPath({ verbs, nonResourceURLs }: NonResourcePolicyRule, { verb, path }: RequestInfo): boolean {
  if (!hasOrAll(verbs, verb)) return false;
  return (nonResourceURLs ?? []).some((url) => {
    if (url === '*' || url === path) return true;
    const bare = url.endsWith('*') ? url.slice(0, -1) : url;
    return path.startsWith(bare.endsWith('/') ? bare : `${bare}/`);
  });
}

const hasOrAll = (list: readonly string[] | null | undefined, value: string): boolean =>
  list != null && ((list.length === 1 && list[0] === '*') || list.includes(value));
