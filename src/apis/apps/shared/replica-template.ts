import { type FieldErrors, type FieldPath, invalid } from '../../../machinery/field-error.js';
import type { ReplicaSetSpec } from '../../../schema/generated/apps.v1.js';
import { selectorValue } from '../../core/internal-form/internal-value.js';
import type { PodRules } from '../../core/pod/validation/pod-rules.js';
import { validateReplicatedTemplate } from '../../core/pod/validation/workload-template.js';
import { compiledSelector } from './selector.js';

/** The template of replica sets, also of those that a deployment makes: its pods are selected by the selector. */
export function validateReplicaTemplate(
  { selector, template }: Pick<Readonly<ReplicaSetSpec>, 'selector' | 'template'>,
  spec: FieldPath,
  rules: PodRules,
): FieldErrors {
  const compiled = compiledSelector(selector);
  if (compiled === undefined)
    return [invalid(spec.child('selector'), selectorValue(selector), 'invalid label selector')];
  const path = spec.child('template');
  return validateReplicatedTemplate({ template, selector: compiled, kind: 'ReplicaSet', path, rules });
}
