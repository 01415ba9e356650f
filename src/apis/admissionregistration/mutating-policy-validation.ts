import { append } from '../../lib/values/append.js';
import { validateExpressionAmount } from '../../cel/expression-limits.js';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import { type FieldErrors, FieldPath, invalid, notSupported, required } from '../../machinery/field-error.js';
import type { MutatingAdmissionPolicy, Mutation } from '../../schema/generated/admissionregistration.v1beta1.js';
import { validateMatchConstraints, validateMutatingOperations } from './match-resources.js';
import { REINVOCATION_POLICIES } from './policies.js';
import { PolicyExpressions, expressionsIn, validatePolicyFrame, validateVariables } from './policy-validation.js';

const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'];
const SPEC = FieldPath.of('spec');

export function validateMutatingPolicy(
  { spec }: Readonly<MutatingAdmissionPolicy>,
  old: Readonly<MutatingAdmissionPolicy> | undefined,
  checker: ExpressionChecker | undefined,
): FieldErrors {
  const tooMuch = validateExpressionAmount(expressionsIn(spec), SPEC);
  if (tooMuch.length > 0) return tooMuch;
  const stored = (old?.spec.mutations ?? []).map(({ applyConfiguration }) => applyConfiguration?.expression ?? '');
  const check = new PolicyExpressions(checker, spec, new Set(stored), true);
  const errors = validatePolicyFrame(spec, old?.spec, checker, (match, path) => [
    ...validateMatchConstraints(match, path),
    ...validateMutatingOperations(match, path),
  ]);
  append(errors, validateVariables(spec.variables, check));
  const { mutations = [], reinvocationPolicy = '' } = spec;
  if (mutations.length === 0) {
    errors.push(required(SPEC.child('mutations'), 'mutations must contain at least one item'));
  }
  for (const [i, mutation] of mutations.entries()) {
    append(errors, validateMutation(mutation, check, SPEC.child('mutations').index(i)));
  }
  if (reinvocationPolicy === '') errors.push(required(SPEC.child('reinvocationPolicy')));
  else if (!REINVOCATION_POLICIES.includes(reinvocationPolicy)) {
    errors.push(notSupported(SPEC.child('reinvocationPolicy'), reinvocationPolicy, REINVOCATION_POLICIES));
  }
  return errors;
}

function validateMutation(mutation: Readonly<Mutation>, check: PolicyExpressions, path: FieldPath): FieldErrors {
  const { patchType } = mutation;
  switch (patchType) {
    case '':
      return [required(path.child('patchType'))];
    case 'JSONPatch':
      return validatePatch({ mutation, wanted: 'jsonPatch', unwanted: 'applyConfiguration', check, path });
    case 'ApplyConfiguration':
      return validatePatch({ mutation, wanted: 'applyConfiguration', unwanted: 'jsonPatch', check, path });
    default:
      return [notSupported(path.child('patchType'), patchType, PATCH_TYPES)];
  }
}

const USES = { jsonPatch: 'json-patch', applyConfiguration: 'apply-configuration' } as const;

interface PatchCheck {
  readonly mutation: Readonly<Mutation>;
  readonly wanted: 'jsonPatch' | 'applyConfiguration';
  readonly unwanted: 'jsonPatch' | 'applyConfiguration';
  readonly check: PolicyExpressions;
  readonly path: FieldPath;
}

function validatePatch({ mutation, wanted, unwanted, check, path }: PatchCheck): FieldErrors {
  const errors: FieldErrors = [];
  const patch = mutation[wanted];
  if (patch === undefined) {
    errors.push(required(path.child(wanted), `must be specified when patchType is ${mutation.patchType}`));
  } else {
    const { expression = '' } = patch;
    const at = path.child(wanted, 'expression');
    if (expression.trim() === '') errors.push(required(at));
    else append(errors, check.check(USES[wanted], expression, at));
  }
  if (mutation[unwanted] !== undefined) {
    const why = `must not be specified when patchType is ${mutation.patchType}`;
    errors.push(invalid(path.child(unwanted), `{${unwanted}}`, why));
  }
  return errors;
}
