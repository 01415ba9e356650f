import type { Cancellation } from '../lib/async/cancellation.js';
import type { AuthorizationAttributes } from '../machinery/access.js';
import type { UserInfo } from '../machinery/user.js';

export type { AuthorizationAttributes };

export type Decision = 'allow' | 'deny' | 'no-opinion';

export interface AuthorizationResult {
  readonly decision: Decision;
  readonly reason: string;
  /** An error met on the way; the decision stands. */
  readonly evaluationError?: string;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface RulesResult {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export interface Authorizer {
  /** `waiting` is cancelled when the request ends; an authorizer that calls a webhook stops then. */
  authorize(
    attributes: AuthorizationAttributes,
    waiting?: Cancellation,
  ): Promise<AuthorizationResult> | AuthorizationResult;
  /** Everything the user may do in a namespace, for SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): Promise<RulesResult> | RulesResult;
}
