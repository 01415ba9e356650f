// Service-account tokens: who signs, who verifies, and the documents others verify them by.
import { errorText } from '../lib/error-text.js';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { createTokenAction } from '../apis/authentication/token-request.js';
import type { ServiceAccountParts } from '../apis/core/serviceaccount/definition.js';
import type { TokenAuthenticator } from '../authn/authenticator.js';
import { createBoundTokenAuthenticator, type TokenObjects } from '../authn/service-account/bound-tokens.js';
import {
  DISCOVERY_MAX_AGE_SECONDS,
  discoveryDocuments,
  JWKS_PATH,
  OPENID_CONFIGURATION_PATH,
} from '../authn/service-account/discovery.js';
import { createTokenIssuer } from '../authn/service-account/issuer.js';
import {
  parseSigningKey,
  parseVerifyingKeys,
  type SigningKey,
  type VerifyingKey,
} from '../authn/service-account/keys.js';
import { createTokenUses } from '../authn/service-account/metrics.js';
import { createLegacyTokenAuthenticator, LAST_USED_LABEL } from '../authn/service-account/legacy-tokens.js';
import type { Logger } from '../lib/log.js';
import type { MetricRegistry } from '../lib/metrics.js';
import { noSuchPath, wrongMethod } from '../machinery/status.js';
import type { LifeContext } from '../registry/kind.js';
import type { Options } from '../options/options.js';
import { requireRoute } from '../rest/negotiate.js';
import type { PathHandler } from './paths.js';
import type { PreparedCertificates } from './prepare-certificates.js';
import type { Resources } from './resources.js';

export interface ServiceAccountTokens {
  /** Legacy first, then bound tokens. */
  readonly authenticators: readonly TokenAuthenticator[];
  readonly kind: ServiceAccountParts;
  readonly paths: readonly PathHandler[];
  readonly index: readonly string[];
}

export interface ServiceAccountTokenParts {
  readonly certificates: PreparedCertificates;
  readonly resources: Resources;
  readonly context: () => LifeContext;
  readonly metrics: MetricRegistry;
  readonly log: Logger;
}

export function buildServiceAccountTokens(options: Options, parts: ServiceAccountTokenParts): ServiceAccountTokens {
  const { authentication } = options;
  const { certificates, resources } = parts;
  const keys = certificates.serviceAccountKeyFiles.flatMap((file) => parseVerifyingKeys(fs.readFileSync(file, 'utf8')));
  const { apiAudiences } = authentication;
  const objects: TokenObjects = {
    get: async (resource, namespace, name) => resources.lookup.get({ group: '', resource }, namespace, name),
  };
  const uses = createTokenUses(parts.metrics);
  return {
    authenticators: [
      createLegacyTokenAuthenticator({
        keys: () => keys,
        apiAudiences,
        objects,
        lookup: authentication.serviceAccountLookup,
        uses,
        now: () => new Date(),
        markUsed: (secret, day) => markUsed(parts, secret.metadata.namespace ?? '', secret.metadata.name ?? '', day),
      }),
      createBoundTokenAuthenticator({
        issuers: authentication.serviceAccountIssuer,
        keys: () => keys,
        apiAudiences,
        objects,
        uses,
        nowMs: Date.now,
      }),
    ],
    kind: issuing(options, certificates),
    ...documents(options, keys, parts.log),
  };
}

function signingKeyFrom(file: string): SigningKey {
  try {
    return parseSigningKey(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    const why = errorText(error);
    throw new Error(`error reading private key file ${file}: ${why}`, { cause: error });
  }
}

function issuing(options: Options, { serviceAccountSigningKeyFile: file }: PreparedCertificates): ServiceAccountParts {
  const { authentication } = options;
  if (file === '') return {};
  const issuer = createTokenIssuer({
    issuer: authentication.serviceAccountIssuer[0] ?? '',
    key: signingKeyFrom(file),
    newId: () => crypto.randomUUID(),
  });
  return {
    createToken: createTokenAction({
      issuer,
      apiAudiences: authentication.apiAudiences,
      maxExpirationSeconds: authentication.serviceAccountMaxTokenExpirationMs / 1000,
      extendExpiration: authentication.serviceAccountExtendTokenExpiration,
    }),
  };
}

/** Tells that the token of a secret is still in use, so that nobody cleans it up. */
function markUsed(
  { resources, context, log }: ServiceAccountTokenParts,
  namespace: string,
  name: string,
  day: string,
): void {
  const resource = { group: '', resource: 'secrets' };
  const label = resources.operations.update(
    resource,
    namespace,
    name,
    '',
    (secret) => {
      secret.metadata.labels = { ...secret.metadata.labels, [LAST_USED_LABEL]: day };
      return secret;
    },
    context(),
  );
  label.catch((error: unknown) => log.error(error, 'Could not label the secret of a used token', { namespace, name }));
}

function documents(
  options: Options,
  keys: readonly VerifyingKey[],
  log: Logger,
): Pick<ServiceAccountTokens, 'paths' | 'index'> {
  const { authentication, generic, secureServing } = options;
  const host = generic.externalHostname === '' ? generic.advertiseAddress : generic.externalHostname;
  try {
    const { configuration, keySet } = discoveryDocuments({
      issuer: authentication.serviceAccountIssuer[0] ?? '',
      jwksUri: authentication.serviceAccountJwksUri,
      externalAddress: `${host}:${secureServing.securePort}`,
      keys,
    });
    return {
      paths: [
        document(OPENID_CONFIGURATION_PATH, 'application/json', () => configuration),
        document(JWKS_PATH, 'application/jwk-set+json', () => keySet),
      ],
      index: [OPENID_CONFIGURATION_PATH, JWKS_PATH],
    };
  } catch (error) {
    log.warning('Service-account issuer discovery is not served', { reason: String(error) });
    return { paths: [], index: [] };
  }
}

/** It comes in one form only, and there is nothing below it. */
function document(path: string, type: string, body: () => string): PathHandler {
  return (request) => {
    if (request.path.startsWith(`${path}/`) && request.path !== `${path}/`) throw noSuchPath();
    if (request.path !== path && request.path !== `${path}/`) return undefined;
    if (request.method !== 'GET') throw wrongMethod();
    requireRoute(request.headers['accept'] || '*/*', [type]);
    const headers = { 'content-type': type, 'cache-control': `public, max-age=${DISCOVERY_MAX_AGE_SECONDS}` };
    return { status: 200, headers, body: body() };
  };
}
