// Which requests a webhook or a policy is for: operations, groups, versions, resources.
import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  duplicate,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { pathSegmentName } from '../../machinery/validation/names.js';
import type { NamedRuleWithOperations, RuleWithOperations } from '../../schema/generated/admissionregistration.v1.js';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

export function validateNamedRule(rule: Readonly<NamedRuleWithOperations>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [i, name] of (rule.resourceNames ?? []).entries()) {
    const at = path.child('resourceNames').index(i);
    append(errors, invalidEach(at, name, pathSegmentName(name, false)));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
  }
  append(errors, validateRule(rule, path));
  return errors;
}

export function validateRule(rule: Readonly<RuleWithOperations>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const at = path.child('operations');
  append(errors, validateWildcardList(rule.operations, 'operations', at));
  for (const [i, operation] of (rule.operations ?? []).entries()) {
    if (!OPERATIONS.includes(operation)) errors.push(notSupported(at.index(i), operation, OPERATIONS));
  }
  append(
    errors,
    validateWildcardList(rule.apiGroups, 'API groups', path.child('apiGroups')),
    validateWildcardList(rule.apiVersions, 'API versions', path.child('apiVersions')),
  );
  for (const [i, version] of (rule.apiVersions ?? []).entries()) {
    if (version === '') errors.push(required(path.child('apiVersions').index(i)));
  }
  append(errors, validateResources(rule.resources ?? [], path.child('resources')));
  if (rule.scope !== undefined && !SCOPES.includes(rule.scope)) {
    errors.push(notSupported(path.child('scope'), rule.scope, SCOPES));
  }
  return errors;
}

function validateWildcardList(values: readonly string[] = [], what: string, path: FieldPath): FieldErrors {
  if (values.length === 0) return [required(path)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [invalid(path, values, `if '*' is present, must not specify other ${what}`)];
}

/** A wildcard may not stand beside what it covers already, whether it comes before (`pods/*`) or alone (`*`). */
function validateResources(resources: readonly string[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (resources.length === 0) errors.push(required(path));
  const allSubresourcesOf = new Set<string>();
  const subresourceOfAll = new Set<string>();
  let lastPlainIsNamed = false;
  for (const [i, resource] of resources.entries()) {
    const at = path.index(i);
    if (resource === '') {
      errors.push(required(at));
      continue;
    }
    const slash = resource.indexOf('/');
    if (slash < 0) {
      lastPlainIsNamed = resource !== '*';
      continue;
    }
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (allSubresourcesOf.has(name)) {
      errors.push(invalid(at, resource, `if '${name}/*' is present, must not specify ${resource}`));
    }
    if (subresourceOfAll.has(subresource)) {
      errors.push(invalid(at, resource, `if '*/${subresource}' is present, must not specify ${resource}`));
    }
    if (subresource === '*') allSubresourcesOf.add(name);
    if (name === '*') subresourceOfAll.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && lastPlainIsNamed) {
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}
