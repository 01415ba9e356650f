import { goQuote } from '../../lib/go/quote.js';
import type { Options } from '../options.js';

const AUTHORIZATION_MODES = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

const REPLACED_BY_FILE = [
  'authorization-mode',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
];

/** `fileError` is what reading the file of --authorization-config finds. */
export function authorizationErrors(
  { authorization, setFlags, featureGates }: Options,
  fileError: () => string | undefined,
): string[] {
  const { authorizationConfig, authorizationMode, authorizationPolicyFile, authorizationWebhookConfigFile } =
    authorization;
  if (authorizationConfig !== '') {
    if (!featureGates.enabled('StructuredAuthorizationConfiguration')) {
      return [
        '--authorization-config cannot be used without enabling StructuredAuthorizationConfiguration feature flag',
      ];
    }
    if (REPLACED_BY_FILE.some((flag) => setFlags.has(flag))) {
      return [
        '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
      ];
    }
    const error = fileError();
    return error === undefined ? [] : [error];
  }
  const errors: string[] = [];
  for (const mode of authorizationMode) {
    if (!AUTHORIZATION_MODES.some((known) => known === mode)) {
      errors.push(`authorization-mode ${goQuote(mode)} is not a valid mode`);
    }
    if (mode === 'ABAC' && authorizationPolicyFile === '') {
      errors.push("authorization-mode ABAC's authorization policy file not passed");
    }
    if (mode === 'Webhook' && authorizationWebhookConfigFile === '') {
      errors.push("authorization-mode Webhook's authorization config file not passed");
    }
  }
  if (authorizationPolicyFile !== '' && !authorizationMode.includes('ABAC')) {
    errors.push('cannot specify --authorization-policy-file without mode ABAC');
  }
  if (authorizationWebhookConfigFile !== '' && !authorizationMode.includes('Webhook')) {
    errors.push('cannot specify --authorization-webhook-config-file without mode Webhook');
  }
  if (new Set(authorizationMode).size !== authorizationMode.length) {
    errors.push(`authorization-mode [${authorizationMode.map(goQuote).join(' ')}] has mode specified more than once`);
  }
  return errors;
}
