// Attribute-based access control: allowed is what some line of the policy file allows.
import type { UserInfo } from '../../machinery/user.js';
import type { AuthorizationAttributes, Authorizer } from '../authorizer.js';
import { withoutStars } from '../rule-match.js';
import type { AbacPolicy } from './policy.js';

export function abacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  return {
    authorize: (attributes) =>
      policies.some((policy) => allows(policy, attributes))
        ? { decision: 'allow', reason: '' }
        : { decision: 'no-opinion', reason: 'No policy matched.' },
    rulesFor(user, namespace) {
      const held = policies.filter(
        (policy) => isAbout(policy, user) && (policy.namespace === '*' || policy.namespace === namespace),
      );
      return {
        resourceRules: held
          .filter(({ resource }) => resource !== '')
          .map((policy) => ({ verbs: verbsOf(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
        nonResourceRules: held
          .filter(({ nonResourcePath }) => nonResourcePath !== '')
          .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
        incomplete: false,
      };
    },
  };
}

const READING = ['get', 'list', 'watch'];
const verbsOf = ({ readonly }: AbacPolicy): readonly string[] => (readonly ? READING : ['*']);

// hot: for every line, until one allows.
function allows(policy: AbacPolicy, attributes: AuthorizationAttributes): boolean {
  if (!isAbout(policy, attributes.user)) return false;
  if (policy.readonly && !READING.includes(attributes.verb)) return false;
  if (!attributes.resourceRequest) return isPath(policy.nonResourcePath, attributes.path);
  return (
    isOrAny(policy.namespace, attributes.namespace) &&
    isOrAny(policy.resource, attributes.resource) &&
    isOrAny(policy.apiGroup, attributes.apiGroup)
  );
}

/** A line that names both a user and a group wants both; one that names neither is about nobody. */
function isAbout({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === name) && (group === '' || groups.includes(group));
}

const isOrAny = (allowed: string, wanted: string): boolean => allowed === '*' || allowed === wanted;

const isPath = (allowed: string, path: string): boolean =>
  allowed === '*' || allowed === path || (allowed.endsWith('*') && path.startsWith(withoutStars(allowed)));
