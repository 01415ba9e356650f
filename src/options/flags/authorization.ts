import { defineTopic, MINUTE_MS, SECOND_MS } from '../flag-table.js';

export const authorization = defineTopic({
  key: 'authorization',
  title: 'authorization',
  flags: {
    'authorization-config': {
      type: 'string',
      help: 'The file (AuthorizationConfiguration) with the chain of authorizers. It takes the place of --authorization-mode and the --authorization-webhook-* flags.',
    },
    'authorization-mode': {
      type: 'strings',
      help: 'The authorizers, in the order they are consulted: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. AlwaysAllow by default.',
    },
    'authorization-policy-file': {
      type: 'string',
      help: 'The file with the rules of mode ABAC, a JSON object a line.',
    },
    'authorization-webhook-cache-authorized-ttl': {
      type: 'duration',
      default: 5 * MINUTE_MS,
      help: "How long the webhook's permissions are cached.",
    },
    'authorization-webhook-cache-unauthorized-ttl': {
      type: 'duration',
      default: 30 * SECOND_MS,
      help: "How long the webhook's refusals are cached.",
    },
    'authorization-webhook-config-file': {
      type: 'string',
      help: 'The kubeconfig file of the webhook of mode Webhook.',
    },
    'authorization-webhook-version': {
      type: 'string',
      default: 'v1beta1',
      help: 'The version of the SubjectAccessReview sent to that webhook: v1 or v1beta1.',
    },
  },
});
