import type { Options } from '../options/options.js';

type JwtAuthenticationModule = typeof import('./jwt-authentication.js');

/** Whether tokens of issuers, or anonymous requests, are configured beyond the plain flag. */
export const usesJwts = ({ authentication }: Options): boolean =>
  authentication.authenticationConfig !== '' ||
  (authentication.oidcIssuerUrl !== '' && authentication.oidcClientId !== '');

/** Brings the engine of expressions: read only when it is needed. In the bundle what is required stands unread until then. */
export const jwtAuthentication = (): JwtAuthenticationModule =>
  require('./jwt-authentication.js') as JwtAuthenticationModule;
