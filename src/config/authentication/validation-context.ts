// What the rules of an AuthenticationConfiguration depend on.
import type { AuthenticationCompiler } from '../../cel/environments/authentication.js';

export interface ValidationContext {
  readonly compiler: AuthenticationCompiler;
  readonly features: { enabled(name: AuthenticationGate): boolean };
  /** The issuers of service-account tokens, which no other way may judge. */
  readonly disallowedIssuers: readonly string[];
}

export type AuthenticationGate =
  | 'StructuredAuthenticationConfiguration'
  | 'StructuredAuthenticationConfigurationEgressSelector'
  | 'AnonymousAuthConfigurableEndpoints';
