// Service-account tokens: who signs, who verifies, and the documents others verify them by.
import { createTokenAction } from '../../apis/authentication/token-request.js';
import type { ServiceAccountParts } from '../../apis/core/serviceaccount/definition.js';
import type { TokenAuthenticator } from '../../authn/authenticator.js';
import { createBoundTokenAuthenticator, type TokenObjects } from '../../authn/service-account/bound-tokens.js';
import {
  discoveryDocuments,
  type DiscoveryDocuments,
  JWKS_PATH,
  OPENID_CONFIGURATION_PATH,
} from '../../authn/service-account/discovery.js';
import type { VerifyingKey } from '../../authn/service-account/keys.js';
import { createTokenUses } from '../../authn/service-account/metrics.js';
import { createLegacyTokenAuthenticator, LAST_USED_LABEL } from '../../authn/service-account/legacy-tokens.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { noSuchPath, wrongMethod } from '../../machinery/status.js';
import type { LifeContext, ObjectOperations } from '../../registry/kind.js';
import type { Options } from '../../options/options.js';
import { requireRoute } from '../../rest/wire/negotiate.js';
import type { PathHandler } from '../paths/paths.js';
import type { Resources } from '../kinds/resources.js';
import type { TokenSigning } from './token-signing.js';

export interface ServiceAccountTokens {
  /** Legacy first, then bound tokens. */
  readonly authenticators: readonly TokenAuthenticator[];
  readonly kind: ServiceAccountParts;
  readonly paths: readonly PathHandler[];
  readonly index: readonly string[];
}

export interface ServiceAccountTokenParts {
  readonly signing: TokenSigning;
  readonly resources: Resources;
  /** Writes of the server's own; called once such writes can be reviewed. */
  readonly operations: () => ObjectOperations;
  readonly context: () => LifeContext;
  readonly metrics: MetricRegistry;
  readonly log: Logger;
}

export function buildServiceAccountTokens(options: Options, parts: ServiceAccountTokenParts): ServiceAccountTokens {
  const { authentication } = options;
  const { signing, resources } = parts;
  const { apiAudiences } = authentication;
  const objects: TokenObjects = {
    get: async (resource, namespace, name) => resources.lookup.get({ group: '', resource }, namespace, name),
  };
  const uses = createTokenUses(parts.metrics);
  return {
    authenticators: [
      createLegacyTokenAuthenticator({
        keys: signing.keys,
        apiAudiences,
        objects,
        lookup: authentication.serviceAccountLookup,
        uses,
        now: () => new Date(),
        markUsed: (secret, day) => markUsed(parts, secret.metadata.namespace ?? '', secret.metadata.name ?? '', day),
      }),
      createBoundTokenAuthenticator({
        issuers: authentication.serviceAccountIssuer,
        keys: signing.keys,
        apiAudiences,
        objects,
        uses,
        features: options.featureGates,
        nowMs: Date.now,
      }),
    ],
    kind: issuing(options, signing),
    ...documents(options, signing, parts.log),
  };
}

function issuing({ authentication }: Options, signing: TokenSigning): ServiceAccountParts {
  const { issuer, maxExpirationSeconds, maxExtendedExpirationSeconds } = signing;
  if (issuer === undefined) return {};
  return {
    createToken: createTokenAction({
      issuer,
      apiAudiences: authentication.apiAudiences,
      maxExpirationSeconds,
      extendExpiration: authentication.serviceAccountExtendTokenExpiration,
      ...(maxExtendedExpirationSeconds !== undefined && { maxExtendedExpirationSeconds }),
    }),
  };
}

/** Tells that the token of a secret is still in use, so that nobody cleans it up. */
async function markUsed(
  { operations, context, log }: ServiceAccountTokenParts,
  namespace: string,
  name: string,
  day: string,
): Promise<void> {
  const resource = { group: '', resource: 'secrets' };
  try {
    await operations().update({
      resource,
      namespace,
      name,
      subresource: '',
      change: (secret) => {
        secret.metadata.labels = { ...secret.metadata.labels, [LAST_USED_LABEL]: day };
        return secret;
      },
      context: context(),
    });
  } catch (error) {
    log.error(error, 'Could not label the secret of a used token', { namespace, name });
  }
}

function documents(
  options: Options,
  { published, maxAgeSeconds }: TokenSigning,
  log: Logger,
): Pick<ServiceAccountTokens, 'paths' | 'index'> {
  const { authentication, generic, secureServing } = options;
  const host = generic.externalHostname === '' ? generic.advertiseAddress : generic.externalHostname;
  const make = (keys: readonly VerifyingKey[]): DiscoveryDocuments =>
    discoveryDocuments({
      issuer: authentication.serviceAccountIssuer[0] ?? '',
      jwksUri: authentication.serviceAccountJwksUri,
      externalAddress: `${host}:${secureServing.securePort}`,
      keys,
    });
  let shown = published();
  let made: DiscoveryDocuments;
  try {
    made = make(shown);
  } catch (error) {
    log.warning('Service-account issuer discovery is not served', { reason: String(error) });
    return { paths: [], index: [] };
  }
  const current = (): DiscoveryDocuments => {
    const keys = published();
    if (keys !== shown && keys.length > 0) [shown, made] = [keys, make(keys)];
    return made;
  };
  return {
    paths: [
      document(OPENID_CONFIGURATION_PATH, 'application/json', () => current().configuration, maxAgeSeconds),
      document(JWKS_PATH, 'application/jwk-set+json', () => current().keySet, maxAgeSeconds),
    ],
    index: [OPENID_CONFIGURATION_PATH, JWKS_PATH],
  };
}

/** A document in one media type; every path below it is a 404. */
function document(path: string, type: string, body: () => string, maxAgeSeconds: () => number): PathHandler {
  return (request) => {
    if (request.path.startsWith(`${path}/`) && request.path !== `${path}/`) throw noSuchPath();
    if (request.path !== path && request.path !== `${path}/`) return undefined;
    if (request.method !== 'GET') throw wrongMethod();
    requireRoute(request.headers['accept'] || '*/*', [type]);
    const headers = { 'content-type': type, 'cache-control': `public, max-age=${maxAgeSeconds()}` };
    return { status: 200, headers, body: body() };
  };
}
