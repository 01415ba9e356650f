import type { ExpressionChecker } from '../../cel/expression-check.js';
import type { KindDefinition } from '../../registry/kind.js';
import { mutatingAdmissionPolicyBinding, validatingAdmissionPolicyBinding } from './binding-kinds.js';
import type { ParamServices } from './param-authorization.js';
import { mutatingAdmissionPolicy, validatingAdmissionPolicy } from './policy-kinds.js';
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from './webhook-configurations.js';

/** Webhooks and policies of admission. Without a checker their expressions are kept as they come. */
export const admissionregistrationKinds = (
  services: ParamServices,
  checker?: ExpressionChecker,
): readonly KindDefinition[] => [
  validatingWebhookConfiguration(checker),
  mutatingWebhookConfiguration(checker),
  validatingAdmissionPolicy(services, checker),
  validatingAdmissionPolicyBinding(services),
  mutatingAdmissionPolicy(services, checker),
  mutatingAdmissionPolicyBinding(services),
];
