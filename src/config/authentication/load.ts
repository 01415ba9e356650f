// How people and programs prove who they are by JWTs: from the file of --authentication-config, or from --oidc-* flags,
// which are the same said in fewer words.
import { readTextFile } from '../../lib/go/file-error.js';
import { goQuote } from '../../lib/go/quote.js';
import type { AuthenticationConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';
import { SERVER_KINDS } from '../server-kinds.js';

const KIND = 'AuthenticationConfiguration';

/** The versions differ in name only. Throws a ConfigError. */
export function decodeAuthentication(text: string): AuthenticationConfiguration {
  if (text === '') throw new ConfigError('empty config data');
  const { kind, object } = decodeConfig(text, {
    kinds: SERVER_KINDS,
    scheme: 'pkg/kubeapiserver/options/authentication.go:853',
  });
  if (kind !== KIND) throw new ConfigError(`expected ${KIND}, got *apiserver.${kind}`);
  return object as unknown as AuthenticationConfiguration;
}

export function readAuthentication(file: string): {
  readonly text: string;
  readonly configuration: AuthenticationConfiguration;
} {
  const wrong = (why: string): ConfigError =>
    new ConfigError(`failed to load authentication configuration from file ${goQuote(file)}: ${why}`);
  const read = readTextFile(file);
  if (!read.ok) throw wrong(read.error);
  try {
    return { text: read.text, configuration: decodeAuthentication(read.text) };
  } catch (error) {
    if (error instanceof ConfigError) throw wrong(error.message);
    throw error;
  }
}

/** The values of the --oidc-* flags. */
export interface OidcFlags {
  readonly oidcIssuerUrl: string;
  readonly oidcClientId: string;
  readonly oidcCaFile: string;
  readonly oidcUsernameClaim: string;
  readonly oidcUsernamePrefix: string;
  readonly oidcGroupsClaim: string;
  readonly oidcGroupsPrefix: string;
  readonly oidcRequiredClaim: Readonly<Record<string, string>>;
}

export function authenticationOfFlags(flags: OidcFlags): AuthenticationConfiguration {
  const { oidcIssuerUrl: url, oidcClientId: clientId, oidcCaFile: caFile, oidcGroupsClaim: groupsClaim } = flags;
  const ca = caFile === '' ? undefined : readTextFile(caFile);
  if (ca?.ok === false) throw new ConfigError(ca.error);
  return {
    jwt: [
      {
        issuer: { url, audiences: [clientId], ...(ca !== undefined && { certificateAuthority: ca.text }) },
        claimMappings: {
          username: { claim: flags.oidcUsernameClaim, prefix: usernamePrefix(flags) },
          groups: groupsClaim === '' ? {} : { claim: groupsClaim, prefix: flags.oidcGroupsPrefix },
          uid: {},
        },
        claimValidationRules: Object.entries(flags.oidcRequiredClaim).map(([claim, requiredValue]) => ({
          claim,
          requiredValue,
        })),
      },
    ],
  };
}

/** Names that are no e-mail addresses are prefixed with their issuer, unless the administrator says how. */
function usernamePrefix({ oidcIssuerUrl, oidcUsernameClaim, oidcUsernamePrefix }: OidcFlags): string {
  if (oidcUsernamePrefix === '-') return '';
  return oidcUsernamePrefix === '' && oidcUsernameClaim !== 'email' ? `${oidcIssuerUrl}#` : oidcUsernamePrefix;
}
