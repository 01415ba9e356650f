// A chain of authorizers as the server builds it, with everything filled in.
import type { ReviewCondition } from '../../cel/review-condition.js';

export const AUTHORIZER_TYPES = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;
export type AuthorizerType = (typeof AUTHORIZER_TYPES)[number];
export type BuiltInType = Exclude<AuthorizerType, 'Webhook'>;

export type AuthorizerConfig =
  | { readonly type: BuiltInType; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookConfig };

export interface WebhookConfig {
  readonly timeoutMs: number;
  /** How long answers are cached; 0: they are not. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly reviewVersion: 'v1' | 'v1beta1';
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  /** The client configuration of the webhook; undefined: the in-cluster configuration applies. */
  readonly kubeConfigFile: string | undefined;
  readonly matchConditions: readonly ReviewCondition[];
}

/** Authorizers that are there once have the name of their type. */
export const nameOfType = (type: string): string => type.toLowerCase();
