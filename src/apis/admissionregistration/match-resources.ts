// What policies and their bindings say about the objects they are for and their parameters.
import { apiVersionFault } from '../../machinery/object.js';
import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../machinery/validation/label-selector.js';
import {
  isDns1035Label,
  isDns1123Subdomain,
  nameIsDnsSubdomain,
  pathSegmentName,
} from '../../machinery/validation/names.js';
import type { MatchResources, ParamKind, ParamRef } from '../../schema/generated/admissionregistration.v1.js';
import { MATCH_POLICIES } from './policies.js';
import { validateNamedRule } from './resource-rules.js';

/** A deleted object cannot be mutated, so mutating policies know no DELETE. */
const MUTATING_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];
const EXCLUSIVE = 'name and selector are mutually exclusive';

export function validateMatchResources(match: Readonly<MatchResources> | undefined, path: FieldPath): FieldErrors {
  if (match === undefined) return [];
  const errors: FieldErrors = [];
  const { matchPolicy, namespaceSelector, objectSelector } = match;
  if (matchPolicy === undefined) errors.push(required(path.child('matchPolicy')));
  else if (!MATCH_POLICIES.includes(matchPolicy)) {
    errors.push(notSupported(path.child('matchPolicy'), matchPolicy, MATCH_POLICIES));
  }
  if (namespaceSelector === undefined) errors.push(required(path.child('namespaceSelector')));
  else append(errors, validateLabelSelector(namespaceSelector, {}, path.child('namespaceSelector')));
  if (objectSelector === undefined) errors.push(required(path.child('objectSelector')));
  else append(errors, validateLabelSelector(objectSelector, {}, path.child('objectSelector')));
  for (const member of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [i, rule] of (match[member] ?? []).entries()) {
      append(errors, validateNamedRule(rule, path.child(member).index(i)));
    }
  }
  return errors;
}

/** The constraints of a policy, which must name at least one resource so that its types are known. */
export function validateMatchConstraints(match: Readonly<MatchResources> | undefined, path: FieldPath): FieldErrors {
  if (match === undefined) return [required(path)];
  const errors = validateMatchResources(match, path);
  if ((match.resourceRules ?? []).length === 0) errors.push(required(path.child('resourceRules')));
  return errors;
}

export function validateMutatingOperations(match: Readonly<MatchResources> | undefined, path: FieldPath): FieldErrors {
  const operations = (match?.resourceRules ?? []).flatMap((rule) => rule.operations ?? []);
  return operations
    .filter((operation) => !MUTATING_OPERATIONS.includes(operation))
    .map((operation) => notSupported(path.child('resourceRules', 'operations'), operation, MUTATING_OPERATIONS));
}

export function validateParamKind({ apiVersion = '', kind = '' }: Readonly<ParamKind>, path: FieldPath): FieldErrors {
  const errors = validateParamApiVersion(apiVersion, path.child('apiVersion'));
  if (kind === '') errors.push(required(path.child('kind')));
  else {
    const wrong = isDns1035Label(kind.toLowerCase());
    if (wrong.length > 0) {
      const why = `may have mixed case, but should otherwise match: ${wrong.join(',')}`;
      errors.push(invalid(path.child('kind'), kind, why));
    }
  }
  return errors;
}

function validateParamApiVersion(apiVersion: string, path: FieldPath): FieldErrors {
  if (apiVersion === '') return [required(path)];
  const fault = apiVersionFault(apiVersion);
  if (fault !== undefined) return [invalid(path, apiVersion, fault)];
  const parts = apiVersion.split('/');
  const version = parts[parts.length - 1] ?? '';
  const group = parts.length === 2 ? (parts[0] ?? '') : '';
  const errors: FieldErrors = [];
  const wrongGroup = group === '' ? [] : isDns1123Subdomain(group);
  if (wrongGroup.length > 0) errors.push(invalid(path, group, wrongGroup.join(',')));
  if (version === '') errors.push(invalid(path, apiVersion, 'version must be specified'));
  else {
    const wrong = isDns1035Label(version);
    if (wrong.length > 0) errors.push(invalid(path, version, wrong.join(',')));
  }
  return errors;
}

export function validatePolicyName(name: string, path: FieldPath): FieldErrors {
  return name === '' ? [required(path)] : invalidEach(path, name, nameIsDnsSubdomain(name, false));
}

export function validateParamRef(reference: Readonly<ParamRef> | undefined, path: FieldPath): FieldErrors {
  if (reference === undefined) return [];
  const { name = '', selector, parameterNotFoundAction: action = '' } = reference;
  const errors: FieldErrors = [];
  const both = name !== '' && selector !== undefined;
  if (name !== '') append(errors, invalidEach(path.child('name'), name, pathSegmentName(name, false)));
  if (both) errors.push(forbidden(path.child('name'), EXCLUSIVE));
  append(errors, validateLabelSelector(selector, {}, path.child('selector')));
  if (both) errors.push(forbidden(path.child('selector'), EXCLUSIVE));
  if (name === '' && selector === undefined) {
    errors.push(required(path, 'one of name or selector must be specified'));
  }
  if (action === '') errors.push(required(path.child('parameterNotFoundAction')));
  else if (!NOT_FOUND_ACTIONS.includes(action)) {
    errors.push(notSupported(path.child('parameterNotFoundAction'), action, NOT_FOUND_ACTIONS));
  }
  return errors;
}
