import { append } from '../../lib/values/append.js';
import { type ExpressionChecker, type PolicyEnvironment, checkExpression } from '../../cel/expression-check.js';
import { MAX_FAULTS, validateExpressionAmount } from '../../cel/expression-limits.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import {
  type FieldErrors,
  FieldPath,
  duplicate,
  invalid,
  notSupported,
  required,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isQualifiedName } from '../../machinery/validation/names.js';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  Validation,
  Variable,
} from '../../schema/generated/admissionregistration.v1.js';
import type { MutatingAdmissionPolicy } from '../../schema/generated/admissionregistration.v1beta1.js';
import { expressionsOf, validateMatchConditions } from './match-conditions.js';
import { validateMatchConstraints, validateParamKind } from './match-resources.js';
import { FAILURE_POLICIES } from './policies.js';

/** What both kinds of policy have in common. */
export type PolicySpec = Pick<
  ValidatingAdmissionPolicy['spec'],
  'failurePolicy' | 'paramKind' | 'matchConstraints' | 'matchConditions' | 'variables'
>;

const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const SPEC = FieldPath.of('spec');
const EMPTY_POLICY = 'validations or auditAnnotations must contain at least one item';

export function validatePolicy(
  { metadata, spec }: Readonly<ValidatingAdmissionPolicy>,
  old: Readonly<ValidatingAdmissionPolicy> | undefined,
  checker: ExpressionChecker | undefined,
): FieldErrors {
  const tooMuch = validateExpressionAmount(expressionsIn(spec), SPEC);
  if (tooMuch.length > 0) return tooMuch;
  const stored = new Set((old?.spec.validations ?? []).map(({ expression }) => expression));
  const storedMessages = new Set((old?.spec.validations ?? []).map(({ messageExpression }) => messageExpression ?? ''));
  const check = new PolicyExpressions(checker, spec, stored);
  const errors = validatePolicyFrame(spec, old?.spec, checker);
  append(errors, validateVariables(spec.variables, check));
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    errors.push(required(SPEC.child('validations'), EMPTY_POLICY));
    errors.push(required(SPEC.child('auditAnnotations'), EMPTY_POLICY));
    return errors;
  }
  for (const [i, validation] of validations.entries()) {
    append(errors, validateValidation(validation, check, storedMessages, SPEC.child('validations').index(i)));
  }
  append(errors, validateAuditAnnotations(auditAnnotations, metadata.name ?? '', check, old));
  return errors;
}

/** The expressions of a policy of either kind. */
export function* expressionsIn(spec: Readonly<PolicySpec & Partial<Expressive>>): Generator<string> {
  for (const { expression } of spec.matchConditions ?? []) yield expression;
  for (const { expression } of spec.variables ?? []) yield expression;
  for (const { expression, messageExpression = '' } of spec.validations ?? []) yield* [expression, messageExpression];
  for (const { valueExpression } of spec.auditAnnotations ?? []) yield valueExpression;
  for (const { applyConfiguration, jsonPatch } of spec.mutations ?? []) {
    yield* [applyConfiguration?.expression ?? '', jsonPatch?.expression ?? ''];
  }
}

type Expressive = Pick<ValidatingAdmissionPolicy['spec'], 'validations' | 'auditAnnotations'> &
  Pick<MutatingAdmissionPolicy['spec'], 'mutations'>;

/** Failure policy, parameters and what the policy is for; `old` unchanged spares the match conditions. */
export function validatePolicyFrame(
  spec: Readonly<PolicySpec>,
  old: Readonly<PolicySpec> | undefined,
  checker: ExpressionChecker | undefined,
  validateConstraints = validateMatchConstraints,
): FieldErrors {
  const { failurePolicy, paramKind, matchConditions } = spec;
  const errors: FieldErrors = [];
  if (failurePolicy === undefined) errors.push(required(SPEC.child('failurePolicy')));
  else if (!FAILURE_POLICIES.includes(failurePolicy)) {
    errors.push(notSupported(SPEC.child('failurePolicy'), failurePolicy, FAILURE_POLICIES));
  }
  if (paramKind !== undefined) append(errors, validateParamKind(paramKind, SPEC.child('paramKind')));
  append(errors, validateConstraints(spec.matchConstraints, SPEC.child('matchConstraints')));
  const unchanged =
    old !== undefined && deepEqual(paramKind, old.paramKind) && deepEqual(matchConditions, old.matchConditions);
  if (!unchanged) {
    const rules = { checker, params: paramKind !== undefined, stored: expressionsOf(old?.matchConditions) };
    append(errors, validateMatchConditions(matchConditions, rules, SPEC.child('matchConditions')));
  }
  return errors;
}

/** Uses whose expressions are compiled without the blanks around them. */
const TRIMMED: ReadonlySet<PolicyEnvironment['use']> = new Set([
  'audit-annotation',
  'apply-configuration',
  'json-patch',
]);

/** Compiles the expressions of one policy, each with the variables that come before it. */
export class PolicyExpressions {
  private readonly variables: Variable[] = [];
  private faults = 0;

  constructor(
    private readonly checker: ExpressionChecker | undefined,
    private readonly spec: Readonly<PolicySpec>,
    private readonly stored: ReadonlySet<string>,
    /** Expressions may name `variables`. */
    private readonly composed = (spec.variables?.length ?? 0) > 0,
  ) {}

  declare(variable: Variable): void {
    this.variables.push(variable);
  }

  check(
    use: PolicyEnvironment['use'],
    expression: string,
    path: FieldPath,
    stored: ReadonlySet<string> = this.stored,
  ): FieldErrors {
    if (this.faults > MAX_FAULTS) return [];
    // Of most uses blanks around the expression count, since errors name their column.
    const trimmed = TRIMMED.has(use) ? expression.trim() : expression;
    const environment = {
      use,
      params: this.spec.paramKind !== undefined,
      authorizer: use !== 'message',
      composed: this.composed,
      variables: this.variables,
      stored: stored.has(expression),
    };
    const shown = use === 'audit-annotation' ? expression : trimmed;
    const errors = checkExpression(this.checker, { expression: trimmed, environment, path, shown });
    if (errors.length > 0) this.faults += 1;
    return errors;
  }
}

export function validateVariables(variables: readonly Variable[] | undefined, check: PolicyExpressions): FieldErrors {
  const errors: FieldErrors = [];
  for (const [i, variable] of (variables ?? []).entries()) {
    const path = SPEC.child('variables').index(i);
    if (variable.name.trim() === '') errors.push(required(path.child('name'), 'name is not specified'));
    else if (!isCelIdentifier(variable.name)) {
      errors.push(invalid(path.child('name'), variable.name, 'must be a valid CEL identifier'));
    }
    if (variable.expression.trim() === '') {
      errors.push(required(path.child('expression'), 'expression is not specified'));
      continue;
    }
    append(errors, check.check('variable', variable.expression, path.child('expression')));
    check.declare(variable);
  }
  return errors;
}

function validateValidation(
  { expression, message = '', messageExpression = '', reason }: Readonly<Validation>,
  check: PolicyExpressions,
  storedMessages: ReadonlySet<string>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (expression.trim() === '') errors.push(required(path.child('expression'), 'expression is not specified'));
  else append(errors, check.check('validation', expression, path.child('expression')));
  if (messageExpression.trim() !== '') {
    append(errors, check.check('message', messageExpression, path.child('messageExpression'), storedMessages));
  } else if (messageExpression !== '') {
    errors.push(invalid(path.child('messageExpression'), messageExpression, 'must be non-empty if specified'));
  }
  if (message !== '' && message.trim() === '') {
    errors.push(invalid(path.child('message'), message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalid(path.child('message'), message, 'must not contain line breaks'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(notSupported(path.child('reason'), reason, REASONS));
  }
  return errors;
}

function validateAuditAnnotations(
  annotations: readonly AuditAnnotation[],
  policyName: string,
  check: PolicyExpressions,
  old: Readonly<ValidatingAdmissionPolicy> | undefined,
): FieldErrors {
  const errors: FieldErrors = [];
  const path = SPEC.child('auditAnnotations');
  const stored = new Set((old?.spec.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression));
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    const shown = annotations.map(({ key, valueExpression }) => ({ Key: key, ValueExpression: valueExpression }));
    const why = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    errors.push(invalid(path, shown, why));
  }
  const keys = new Set<string>();
  for (const [i, annotation] of annotations.entries()) {
    append(errors, validateAuditAnnotation(annotation, { policyName, check, stored, path: path.index(i) }));
    if (keys.has(annotation.key)) errors.push(duplicate(path.index(i).child('key'), annotation.key));
    keys.add(annotation.key);
  }
  return errors;
}

interface AuditAnnotationCheck {
  readonly policyName: string;
  readonly check: PolicyExpressions;
  readonly stored: ReadonlySet<string>;
  readonly path: FieldPath;
}

/** The key becomes `<policy>/<key>` in audit events, so both together must be a qualified name. */
function validateAuditAnnotation(
  { key, valueExpression }: Readonly<AuditAnnotation>,
  { policyName, check, stored, path }: AuditAnnotationCheck,
): FieldErrors {
  const errors: FieldErrors = [];
  if (policyName === '') errors.push(invalid(path.child('key'), key, 'requires metadata.name be non-empty'));
  else {
    const name = `${policyName}/${key}`;
    append(errors, invalidEach(path.child('key'), name, isQualifiedName(name)));
  }
  const at = path.child('valueExpression');
  const trimmed = valueExpression.trim();
  if (trimmed === '') errors.push(required(at, 'valueExpression is not specified'));
  else if (Buffer.byteLength(trimmed) > MAX_VALUE_EXPRESSION_BYTES) {
    errors.push(required(at, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`));
  } else append(errors, check.check('audit-annotation', valueExpression, at, stored));
  return errors;
}

const CEL_RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const isCelIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !CEL_RESERVED.has(name);
