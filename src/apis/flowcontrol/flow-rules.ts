// Which requests a flow schema is for: who makes them and what they ask for.
import { append } from '../../lib/values/append.js';
import {
  type FieldError,
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../schema/generated/flowcontrol.v1.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];

export function validateFlowRule(rule: Readonly<PolicyRulesWithSubjects>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  if (subjects === null || subjects.length === 0) {
    errors.push(required(path.child('subjects'), 'subjects must contain at least one value'));
  }
  for (const [i, subject] of (subjects ?? []).entries()) {
    append(errors, validateSubject(subject, path.child('subjects').index(i)));
  }
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  }
  for (const [i, resourceRule] of resourceRules.entries()) {
    append(errors, validateResourceRule(resourceRule, path.child('resourceRules').index(i)));
  }
  for (const [i, nonResourceRule] of nonResourceRules.entries()) {
    append(errors, validateNonResourceRule(nonResourceRule, path.child('nonResourceRules').index(i)));
  }
  return errors;
}

const MEMBERS = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;
type SubjectKind = keyof typeof MEMBERS;

/** A subject holds the one member its kind names; the others are reported in this order. */
function validateSubject(subject: Readonly<Subject>, path: FieldPath): FieldErrors {
  const { kind } = subject;
  if (!isSubjectKind(kind)) return [notSupported(path.child('kind'), kind, SUBJECT_KINDS)];
  const at = path.child(MEMBERS[kind]);
  const errors: FieldErrors = [];
  if (subject[MEMBERS[kind]] === undefined) {
    errors.push(required(at, `${MEMBERS[kind]} is required when subject kind is '${kind}'`));
  } else if (kind === 'ServiceAccount') append(errors, validateServiceAccount(subject, at));
  else if (subject[MEMBERS[kind]]?.name === '') errors.push(required(at.child('name')));
  for (const other of ['ServiceAccount', 'User', 'Group'] as const) {
    if (other === kind || subject[MEMBERS[other]] === undefined) continue;
    const member = MEMBERS[other];
    errors.push(forbidden(path.child(member), `${member} is forbidden when subject kind is not '${other}'`));
  }
  return errors;
}

const isSubjectKind = (kind: string): kind is SubjectKind => SUBJECT_KINDS.includes(kind);

function validateServiceAccount({ serviceAccount }: Readonly<Subject>, path: FieldPath): FieldErrors {
  const { name = '', namespace = '' } = serviceAccount ?? {};
  const errors: FieldErrors = [];
  if (name === '') errors.push(required(path.child('name')));
  else if (name !== '*') append(errors, invalidEach(path.child('name'), name, nameIsDnsSubdomain(name, false)));
  if (namespace === '') {
    errors.push(required(path.child('namespace'), 'must specify namespace for service account'));
  } else append(errors, invalidEach(path.child('namespace'), namespace, nameIsDnsLabel(namespace, false)));
  return errors;
}

function validateResourceRule(rule: Readonly<ResourcePolicyRule>, path: FieldPath): FieldErrors {
  const errors = validateVerbs(rule.verbs ?? [], path.child('verbs'));
  append(
    errors,
    validateNames(rule.apiGroups ?? [], 'api group', path.child('apiGroups')),
    validateNames(rule.resources ?? [], 'resource', path.child('resources')),
  );
  const namespaces = rule.namespaces ?? [];
  const at = path.child('namespaces');
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    errors.push(required(at, 'resource rules that are not cluster scoped must supply at least one namespace'));
  } else if (namespaces.includes('*')) {
    if (namespaces.length > 1) {
      errors.push(invalid(at, namespaces, "if '*' is present, must not specify other namespaces"));
    }
  } else {
    for (const [i, namespace] of namespaces.entries()) {
      for (const why of nameIsDnsLabel(namespace, false)) {
        const full = `each member of this list must be '*' or a DNS-1123 label; ${why}`;
        errors.push(invalid(at.index(i), namespace, full));
      }
    }
  }
  return errors;
}

function validateNonResourceRule(rule: Readonly<NonResourcePolicyRule>, path: FieldPath): FieldErrors {
  const errors = validateVerbs(rule.verbs ?? [], path.child('verbs'));
  const urls = rule.nonResourceURLs ?? [];
  const at = path.child('nonResourceURLs');
  if (urls.length === 0) errors.push(required(at, 'nonResourceURLs must contain at least one value'));
  else if (urls.includes('*')) {
    if (urls.length > 1) errors.push(invalid(at, urls, "if '*' is present, must not specify other non-resource URLs"));
  } else
    append(
      errors,
      urls.flatMap((url, i) => validateUrlPath(url, at.index(i)) ?? []),
    );
  return errors;
}

function validateVerbs(verbs: readonly string[], path: FieldPath): FieldErrors {
  if (verbs.length === 0) return [required(path, 'verbs must contain at least one value')];
  if (verbs.includes('*')) {
    return verbs.length === 1 ? [] : [invalid(path, verbs, "if '*' is present, must not specify other verbs")];
  }
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(path, verbs, VERBS)];
}

function validateNames(names: readonly string[], what: string, path: FieldPath): FieldErrors {
  if (names.length === 0) return [required(path, `resource rules must supply at least one ${what}`)];
  if (names.length === 1 || !names.includes('*')) return [];
  return [invalid(path, names, `if '*' is present, must not specify other ${what}s`)];
}

function validateUrlPath(url: string, path: FieldPath): FieldError | undefined {
  if (url === '') return invalid(path, url, 'must not be empty');
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return invalid(path, url, 'must start with slash');
  if (url.includes(' ')) return invalid(path, url, 'must not contain white-space');
  if (url.includes('//')) return invalid(path, url, 'must not contain double slash');
  const star = url.indexOf('*');
  if (star >= 0 && (star !== url.length - 1 || !url.endsWith('/*'))) {
    return invalid(path, url, 'wildcard can only do suffix matching');
  }
  return undefined;
}
