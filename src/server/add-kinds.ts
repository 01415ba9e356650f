// The built-in kinds that are turned on, with what they need of the server.
import type { Authentication } from '../authn/create-authenticator.js';
import type { ExpressionChecker } from '../cel/expression-check.js';
import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { Options } from '../options/options.js';
import type { LifeContext } from '../registry/kind.js';
import type { Authorization } from './access/authorization.js';
import { createIssuedMetrics } from './metrics/certificate-metrics.js';
import { behindGates, serverKinds } from './kinds/kinds.js';
import type { Stores } from './storage/open-stores.js';
import type { Resources } from './kinds/resources.js';
import type { ServiceAccountTokens } from './access/service-account-tokens.js';
import { deleteEndpoints, type ServicePools } from './kinds/service-allocators.js';

export interface AddKindsParts {
  readonly resources: Resources;
  readonly stores: Stores;
  readonly allocators: ServicePools;
  readonly tokens: ServiceAccountTokens;
  readonly expressions: ExpressionChecker;
  /** Resolved when requests come: kinds call the authorizer, and the authorizer reads kinds. */
  readonly access: {
    readonly value: { readonly authorization: Authorization; readonly authentication: Authentication };
  };
  readonly context: () => LifeContext;
  readonly metrics: MetricRegistry;
}

export function addKinds(
  { authentication: { apiAudiences }, etcd, featureGates }: Options,
  { resources, stores, allocators, tokens, expressions, access, context, metrics }: AddKindsParts,
): void {
  const kinds = serverKinds({
    issuedMetrics: createIssuedMetrics(metrics),
    core: {
      binding: { operations: () => resources.operations },
      componentStatus: { stores: () => stores.checks(etcd.etcdHealthcheckTimeoutMs) },
      service: {
        allocators,
        relaxedNames: featureGates.enabled('RelaxedServiceNameValidation'),
        deleteEndpoints: (namespace, name) => deleteEndpoints(resources, namespace, name, context()),
      },
      serviceAccount: tokens.kind,
    },
    access: {
      authorizer: {
        authorize: (attributes, waiting) => access.value.authorization.authorizer.authorize(attributes, waiting),
        rulesFor: (user, namespace) => access.value.authorization.authorizer.rulesFor(user, namespace),
      },
      rules: {
        grantsFor: (user, namespace) => access.value.authorization.rules.grantsFor(user, namespace),
        get version() {
          return access.value.authorization.rules.version;
        },
      },
    },
    identity: {
      authentication: {
        reviewToken: (token, audiences) => access.value.authentication.reviewToken(token, audiences),
      },
      apiAudiences,
    },
    resourceOf: resources.resourceOf,
    expressions,
  });
  for (const kind of behindGates(kinds, featureGates)) resources.add(kind);
}
