// The documents by which others verify our tokens: the key set, and where to find it.
import type { VerifyingKey } from './keys.js';

export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const JWKS_PATH = '/openid/v1/jwks';
export const DISCOVERY_MAX_AGE_SECONDS = 3600;

export interface DiscoveryOptions {
  /** The first of --service-account-issuer. */
  readonly issuer: string;
  /** --service-account-jwks-uri; empty for our own address. */
  readonly jwksUri: string;
  /** `host:port`, where this server is reached. */
  readonly externalAddress: string;
  readonly keys: readonly VerifyingKey[];
}

export interface DiscoveryDocuments {
  /** JSON for OPENID_CONFIGURATION_PATH, sent as application/json. */
  readonly configuration: string;
  /** JSON for JWKS_PATH, sent as application/jwk-set+json. */
  readonly keySet: string;
}

/** Throws when issuer and address make no valid documents; the server then serves none. */
export function discoveryDocuments({ issuer, jwksUri, externalAddress, keys }: DiscoveryOptions): DiscoveryDocuments {
  if (issuer === '') throw new Error('empty issuer URL');
  if (jwksUri === '' && externalAddress === '') {
    throw new Error('either the JWKS URI or the default external address, or both, must be set');
  }
  if (!/^https:/i.test(issuer)) throw new Error(`issuer URL must use https scheme, got: ${issuer}`);
  const [beforeFragment = '', fragment = ''] = issuer.split('#');
  if ((beforeFragment.split('?')[1] ?? '') !== '') {
    throw new Error(`issuer URL may not include a query, got: ${issuer}`);
  }
  if (fragment !== '') throw new Error(`issuer URL may not include a fragment, got: ${issuer}`);
  if (jwksUri !== '' && !/^https:/i.test(jwksUri)) {
    throw new Error(`jwksURI requires https scheme, parsed as: ${jwksUri}`);
  }
  if (keys.length === 0) throw new Error('no keys provided for validating keyset');
  return {
    configuration: JSON.stringify({
      issuer,
      jwks_uri: jwksUri === '' ? `https://${externalAddress}${JWKS_PATH}` : jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(keys.map((key) => key.algorithm))].toSorted(),
    }),
    keySet: JSON.stringify({ keys: keys.map(jsonWebKey) }),
  };
}

function jsonWebKey({ id, key, algorithm }: VerifyingKey): object {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, crv, alg: algorithm, x, y, n, e };
}
