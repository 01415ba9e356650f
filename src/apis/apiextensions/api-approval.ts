// Groups of the Kubernetes community's own domains say where their API was approved.
import { goQuote } from '../../lib/go/quote.js';
import { parseGoUrl } from '../../lib/go/url.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import type { CustomResourceDefinition } from '../../schema/generated/apiextensions.v1.js';

const API_APPROVED = 'api-approved.kubernetes.io';

export type Approval = 'approved' | 'bypassed' | 'missing' | 'invalid';

export interface ApprovalState {
  readonly state: Approval;
  readonly reason: string;
}

export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

export function approvalOf({ metadata }: Readonly<CustomResourceDefinition>): ApprovalState {
  const text = metadata.annotations?.[API_APPROVED] ?? '';
  const must = `protected groups must have approval annotation ${goQuote(API_APPROVED)}`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (text === '') return { state: 'missing', reason: `${must}, ${see}` };
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${goQuote(text)}` };
  const url = parseGoUrl(text);
  if (!('error' in url) && url.host !== '' && url.scheme !== '') {
    return { state: 'approved', reason: `approved in ${text}` };
  }
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${see}` };
}

/** An update that leaves the approval as it was needs none. */
export function validateApproval(
  object: Readonly<CustomResourceDefinition>,
  old: Readonly<CustomResourceDefinition> | undefined,
): FieldErrors {
  if (!isProtectedGroup(object.spec.group)) return [];
  const { state, reason } = approvalOf(object);
  if (old !== undefined && approvalOf(old).state === state) return [];
  const path = FieldPath.of('metadata', 'annotations').key(API_APPROVED);
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, object.metadata.annotations?.[API_APPROVED], reason)] : [];
}
