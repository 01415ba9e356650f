// Ways to judge tokens that bring much with them, read only when they are needed: in the bundle what is required stands
// unread until then.
import type { Options } from '../../options/options.js';

type JwtAuthenticationModule = typeof import('./jwt-authentication.js');
type TokenWebhookModule = typeof import('./token-webhook.js');

/** Whether tokens of issuers, or anonymous requests, are configured beyond the plain flag. */
export const usesJwts = ({ authentication }: Options): boolean =>
  authentication.authenticationConfig !== '' ||
  (authentication.oidcIssuerUrl !== '' && authentication.oidcClientId !== '');

/** Brings the engine of expressions. */
export const jwtAuthentication = (): JwtAuthenticationModule =>
  require('./jwt-authentication.js') as JwtAuthenticationModule;

export const usesTokenWebhook = ({ authentication }: Options): boolean =>
  authentication.authenticationTokenWebhookConfigFile !== '';

export const tokenWebhook = (): TokenWebhookModule => require('./token-webhook.js') as TokenWebhookModule;
