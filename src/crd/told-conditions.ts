// Conditions that tell something about a definition and change nothing about how it is served.
import { append } from '../lib/append.js';
import { type Approval, approvalOf, isProtectedGroup } from '../apis/apiextensions/api-approval.js';
import { structuralMistake, validateStructural } from '../apis/apiextensions/structural-schema.js';
import { aggregateText, type FieldErrors, FieldPath, fieldErrorText, invalid } from '../machinery/field-error.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';

type Definition = Readonly<CustomResourceDefinition>;

export type ToldConditions = Readonly<Record<string, Condition | undefined>>;

/** Each by its type; undefined where it does not hold and goes when it was there. */
export const toldConditions = (definition: Definition): ToldConditions => ({
  KubernetesAPIApprovalPolicyConformant: approvalCondition(definition),
  NonStructuralSchema: structuralCondition(definition),
});

const APPROVAL_WORDS: Readonly<Record<Approval, { status: string; reason: string }>> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
};

/** How a definition in one of the community's own groups stands to its rule that APIs are approved. */
function approvalCondition(definition: Definition): Condition | undefined {
  if (!isProtectedGroup(definition.spec.group)) return undefined;
  const { state, reason } = approvalOf(definition);
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...APPROVAL_WORDS[state], message: reason };
}

/** Definitions from before schemas had to be structural may go on without. */
function structuralCondition({ spec }: Definition): Condition | undefined {
  const type = 'NonStructuralSchema';
  const errors: FieldErrors = [];
  if (spec.preserveUnknownFields) {
    errors.push(invalid(FieldPath.of('spec', 'preserveUnknownFields'), true, 'must be false'));
  }
  for (const [i, { name, schema }] of (spec.versions ?? []).entries()) {
    if (schema?.openAPIV3Schema === undefined) continue;
    const mistake = structuralMistake(schema.openAPIV3Schema);
    if (mistake !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${mistake}`;
      return { type, status: 'Unknown', reason: 'StructuralError', message };
    }
    const path = FieldPath.of('spec', 'versions').index(i).child('schema', 'openAPIV3Schema');
    append(errors, validateStructural(schema.openAPIV3Schema, path));
  }
  if (errors.length === 0) return undefined;
  return { type, status: 'True', reason: 'Violations', message: aggregateText(errors.map(fieldErrorText)) };
}
