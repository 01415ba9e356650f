// What a policy says about one request, with one set of parameters.
import type { ExpressionResult, PolicyInput } from '../../cel/compiled-policy.js';
import type { ValidatingAdmissionPolicySpec, Validation } from '../../schema/generated/admissionregistration.v1.js';
import { conditionsHold, type ConditionsOptions } from '../matching/match-conditions.js';

/** What all validations of a policy may cost, messages included; annotations have as much again. */
export const COST_BUDGET = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

export interface Decision {
  readonly deny: boolean;
  /** `error`: the failure policy has decided. */
  readonly evaluation: 'admit' | 'deny' | 'error';
  readonly message: string;
  readonly reason: string;
  readonly seconds: number;
}

export type AnnotationResult =
  | { readonly kind: 'publish'; readonly key: string; readonly value: string }
  | { readonly kind: 'error'; readonly message: string; readonly seconds: number };

export interface Verdict {
  readonly decisions: readonly Decision[];
  readonly annotations: readonly AnnotationResult[];
}

export interface DecideOptions extends ConditionsOptions {
  readonly spec: Readonly<ValidatingAdmissionPolicySpec>;
  readonly input: PolicyInput;
}

const NOTHING: Verdict = { decisions: [], annotations: [] };

export async function decide(options: DecideOptions): Promise<Verdict> {
  const { spec, compiled, input } = options;
  const denyOnError = spec.failurePolicy !== 'Ignore';
  const failed = (message: string): Verdict => ({ decisions: [errorDecision(denyOnError, message)], annotations: [] });
  if ((spec.matchConditions ?? []).length > 0) {
    const matched = await conditionsHold(options);
    if (matched === false || (matched !== true && !denyOnError)) return NOTHING;
    if (matched !== true) return failed(matched.error);
  }
  const validated = await compiled.evaluate('validations', input, COST_BUDGET);
  if (validated.kind !== 'done') return failed(validated.error);
  const { authorizer: _none, ...withoutAuthorizer } = input;
  const messages = await compiled.evaluate('messages', withoutAuthorizer, validated.remainingCost);
  const decisions = validated.results.map((result, index): Decision => {
    const { seconds } = result;
    if (result.error !== undefined) return errorDecision(denyOnError, result.error, seconds);
    if (messages.kind !== 'done')
      return errorDecision(denyOnError, `failed messageExpression: ${messages.error}`, seconds);
    if (result.value === true) return { deny: false, evaluation: 'admit', message: '', reason: '', seconds };
    const validation = spec.validations?.[index] ?? { expression: '' };
    const message = messageOf(validation, messages.results[index]);
    return { deny: true, evaluation: 'deny', message, reason: validation.reason ?? 'Invalid', seconds };
  });
  const annotated = await compiled.evaluate('auditAnnotations', withoutAuthorizer, COST_BUDGET);
  if (annotated.kind !== 'done') return failed(annotated.error);
  return {
    decisions,
    annotations: annotated.results.flatMap((result, i) => annotationOf(spec, i, result, denyOnError)),
  };
}

const errorDecision = (deny: boolean, message: string, seconds = 0): Decision => ({
  deny,
  evaluation: 'error',
  message,
  reason: '',
  seconds,
});

/** A message that is worked out must be short and on one line, else the one that is written counts. */
function messageOf({ expression, message = '' }: Validation, result: ExpressionResult | undefined): string {
  if (typeof result?.value === 'string') {
    const text = result.value.trim();
    if (text !== '' && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES && !text.includes('\n')) return text;
  }
  return message.trim() === '' ? `failed expression: ${expression.trim()}` : message.trim();
}

function annotationOf(
  { auditAnnotations = [] }: Readonly<ValidatingAdmissionPolicySpec>,
  index: number,
  { error, value, seconds }: ExpressionResult,
  denyOnError: boolean,
): readonly AnnotationResult[] {
  const { key = '', valueExpression = '' } = auditAnnotations[index] ?? {};
  if (error !== undefined) return denyOnError ? [{ kind: 'error', message: error, seconds }] : [];
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') {
    const text = value.trim();
    return text === '' ? [] : [{ kind: 'publish', key, value: text }];
  }
  const type = typeof value === 'boolean' ? 'bool' : value.type;
  const message = `valueExpression '${valueExpression}' resulted in unsupported return type: ${type}. Return type must be either string or null.`;
  return [{ kind: 'error', message, seconds }];
}
