import { type Approval, approvalOf, isProtectedGroup } from '../apis/apiextensions/api-approval.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';

const WORDS: Readonly<Record<Approval, { status: string; reason: string }>> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
};

/** How a definition in one of the community's own groups stands to its rule that APIs are approved. */
export function approvalCondition(definition: Readonly<CustomResourceDefinition>): Condition | undefined {
  if (!isProtectedGroup(definition.spec.group)) return undefined;
  const { state, reason } = approvalOf(definition);
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...WORDS[state], message: reason };
}
