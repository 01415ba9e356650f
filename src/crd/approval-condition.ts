// KubernetesAPIApprovalPolicyConformant: the condition of a CRD in a group of the Kubernetes community itself.
import { type Approval, approvalOf, isProtectedGroup } from '../apis/apiextensions/api-approval.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';

/** Whether the CRD conforms to the rule that APIs of such a group are approved; undefined in other groups. */
export function approvalCondition(crd: Readonly<CustomResourceDefinition>): Condition | undefined {
  if (!isProtectedGroup(crd.spec.group)) return undefined;
  const { state, reason } = approvalOf(crd);
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...APPROVAL_WORDS[state], message: reason };
}

const APPROVAL_WORDS: Readonly<Record<Approval, { status: string; reason: string }>> = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
};
