import type { ClaimMappings } from '../../authn/jwt/user-of-claims.js';

/** A JWT authenticator of the configuration, valid and with its expressions compiled. */
export interface CompiledAuthenticator {
  readonly issuer: {
    readonly url: string;
    readonly discoveryUrl: string;
    /** PEM; empty for the machine's own authorities. */
    readonly certificateAuthority: string;
    readonly audiences: readonly string[];
    readonly egressSelectorType: '' | 'controlplane' | 'cluster';
  };
  readonly mappings: ClaimMappings;
}
