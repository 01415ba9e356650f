import { LEVELS, STAGES } from '../../audit/levels.js';
import { type FieldErrors, FieldPath, invalid, notSupported, required } from '../../machinery/field-error.js';
import { isDns1123Subdomain } from '../../machinery/validation/names.js';
import type { GroupResources, Policy, PolicyRule } from '../../schema/generated/audit.v1.js';

export function validateAuditPolicy({ omitStages = [], rules }: Policy): FieldErrors {
  return [
    ...stageErrors(omitStages, FieldPath.of('omitStages')),
    ...(rules ?? []).flatMap((rule, i) => ruleErrors(rule, FieldPath.of('rules').index(i))),
  ];
}

function ruleErrors(rule: PolicyRule, path: FieldPath): FieldErrors {
  const { nonResourceURLs = [], resources = [], namespaces = [], omitStages = [] } = rule;
  const errors = [
    ...levelErrors(rule.level, path.child('level')),
    ...nonResourceURLs.flatMap((url, i) => urlErrors(url, path.child('nonResourceURLs').index(i))),
    ...resources.flatMap((group) => resourceErrors(group, path.child('resources'))),
    ...stageErrors(omitStages, path.child('omitStages')),
  ];
  if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0) {
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    errors.push(invalid(path.child('nonResourceURLs'), nonResourceURLs, why));
  }
  return errors;
}

function levelErrors(level: string, path: FieldPath): FieldErrors {
  if (level === '' || level === undefined) return [required(path)];
  return (LEVELS as readonly string[]).includes(level) ? [] : [notSupported(path, level, LEVELS)];
}

function urlErrors(url: string, path: FieldPath): FieldErrors {
  if (url === '*') return [];
  const errors: FieldErrors = [];
  if (!url.startsWith('/')) errors.push(invalid(path, url, "non-resource URL rules must begin with a '/' character"));
  if (url.slice(0, -1).includes('*')) {
    errors.push(invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"));
  }
  return errors;
}

/** kube-apiserver does not say which of a rule's resources it means. */
function resourceErrors(
  { group = '', resources = [], resourceNames = [] }: GroupResources,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  const wrong = group === '' ? [] : isDns1123Subdomain(group);
  if (wrong.length > 0) errors.push(invalid(path.child('group'), group, wrong.join(',')));
  if (resourceNames.length > 0 && resources.length === 0) {
    const why = 'using resourceNames requires at least one resource';
    errors.push(invalid(path.child('resourceNames'), resourceNames, why));
  }
  return errors;
}

function stageErrors(stages: readonly string[], path: FieldPath): FieldErrors {
  const why = `allowed stages are ${STAGES.join(',')}`;
  return stages.flatMap((stage, i) =>
    (STAGES as readonly string[]).includes(stage) ? [] : [invalid(path.index(i), stage, why)],
  );
}
