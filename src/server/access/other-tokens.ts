// The token authenticators beyond the token file and service accounts, in the order they are tried.
import os from 'node:os';
import { audienceAgnostic } from '../../authn/audience.js';
import type { TokenAuthenticator } from '../../authn/authenticator.js';
import { createBootstrapTokenAuthenticator } from '../../authn/bootstrap-token.js';
import type { AnonymousOptions } from '../../authn/create-authenticator.js';
import type { TokenCacheMetrics } from '../../authn/token-cache-metrics.js';
import { identityOf } from '../../bootstrap/identity-lease.js';
import type { ReloadRequests } from '../../lib/files/reload-requests.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Options } from '../../options/options.js';
import type { Dialers } from '../outgoing/dialers.js';

import type { Resources } from '../kinds/resources.js';
import { jwtAuthentication, tokenWebhook, usesJwts, usesTokenWebhook } from './token-sources.js';
import { restClientMetrics } from '../metrics/rest-client-metrics.js';

export interface OtherTokenParts {
  readonly resources: Pick<Resources, 'lookup'>;
  readonly dialers: Dialers;
  readonly metrics: MetricRegistry;
  readonly cacheMetrics: TokenCacheMetrics;
  readonly stopping: AbortSignal;
  readonly reloads: ReloadRequests;
  readonly log: Logger;
}

export interface OtherTokens {
  readonly tokens: readonly TokenAuthenticator[];
  /** What a configuration file says of anonymous requests; undefined when it leaves them to the flag. */
  readonly anonymous?: AnonymousOptions;
}

export function buildOtherTokens(options: Options, parts: OtherTokenParts): OtherTokens {
  const { authentication } = options;
  const { apiAudiences } = authentication;
  const { resources, log } = parts;
  const tokens: TokenAuthenticator[] = [];
  if (authentication.enableBootstrapTokenAuth) {
    const bootstrap = createBootstrapTokenAuthenticator({
      secret: async (name) => resources.lookup.get({ group: '', resource: 'secrets' }, 'kube-system', name),
      nowMs: Date.now,
      log,
    });
    tokens.push(audienceAgnostic(bootstrap, apiAudiences));
  }
  let anonymous: AnonymousOptions | undefined;
  if (usesJwts(options)) {
    const jwts = jwtAuthentication().buildJwtAuthentication(options, { ...parts, serverId: identityOf(os.hostname()) });
    tokens.push(audienceAgnostic(jwts.tokens, apiAudiences));
    anonymous = jwts.anonymous;
  }
  if (usesTokenWebhook(options)) {
    const { metrics, cacheMetrics, stopping, dialers } = parts;
    const webhook = {
      dialer: dialers.controlplane,
      metrics: cacheMetrics,
      observe: restClientMetrics(metrics),
      stopping,
      log,
    };
    tokens.push(tokenWebhook().buildTokenWebhook(options, webhook));
  }
  return { tokens, ...(anonymous && { anonymous }) };
}
