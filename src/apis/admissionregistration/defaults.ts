import type {
  MatchResources,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ParamRef,
  Rule,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../schema/generated/admissionregistration.v1.js';

const WEBHOOK_TIMEOUT_SECONDS = 10;
const HTTPS_PORT = 443;

export function defaultValidatingWebhooks({ webhooks }: ValidatingWebhookConfiguration): void {
  for (const webhook of webhooks ?? []) defaultWebhook(webhook);
}

export function defaultMutatingWebhooks({ webhooks }: MutatingWebhookConfiguration): void {
  for (const webhook of webhooks ?? []) {
    defaultWebhook(webhook);
    webhook.reinvocationPolicy ??= 'Never';
  }
}

function defaultWebhook(webhook: ValidatingWebhook | MutatingWebhook): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= WEBHOOK_TIMEOUT_SECONDS;
  if (webhook.clientConfig.service) webhook.clientConfig.service.port ??= HTTPS_PORT;
  defaultScopes(webhook.rules);
}

/** Policies of both kinds and all versions: the members they default are the same. */
export function defaultPolicy({ spec }: Pick<ValidatingAdmissionPolicy, 'metadata' | 'spec'>): void {
  spec.failurePolicy ??= 'Fail';
  defaultMatchResources(spec.matchConstraints);
}

export function defaultBinding({ spec }: Pick<ValidatingAdmissionPolicyBinding, 'metadata' | 'spec'>): void {
  defaultMatchResources(spec.matchResources);
}

/** The alpha version also decided what a missing parameter means. */
export function defaultAlphaBinding(binding: { spec: { paramRef?: ParamRef; matchResources?: MatchResources } }): void {
  if (binding.spec.paramRef) binding.spec.paramRef.parameterNotFoundAction ??= 'Deny';
  defaultMatchResources(binding.spec.matchResources);
}

function defaultMatchResources(match: MatchResources | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  defaultScopes(match.resourceRules);
  defaultScopes(match.excludeResourceRules);
}

function defaultScopes(rules: readonly Rule[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*';
}
