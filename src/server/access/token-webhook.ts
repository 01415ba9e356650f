// The webhook of --authentication-token-webhook-config-file. Loaded only where the flag is set.
import type { TokenAuthenticator } from '../../authn/authenticator.js';
import { cachedTokens } from '../../authn/token-cache.js';
import type { TokenCacheMetrics } from '../../authn/token-cache-metrics.js';
import { createTokenWebhook } from '../../authn/webhook/token-webhook.js';
import { type ClientConfig, clientConfigOf, clientOf } from '../../config/client-config.js';
import { ConfigError } from '../../config/config-error.js';
import { loadKubeconfig } from '../../config/kubeconfig.js';
import { systemClock } from '../../lib/async/clock.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { pause } from '../../lib/async/pause.js';
import { restCall, type RestObserver, SHORT_ANSWER_BYTES } from '../../machinery/rest-call.js';
import { reviewUrl } from '../../machinery/review-url.js';
import type { Options } from '../../options/options.js';
import type { Dialer } from '../../outbound/dialer.js';

/** For one review, retries included. */
const TIMEOUT_MS = 30_000;

export interface TokenWebhookParts {
  readonly dialer: Dialer;
  readonly metrics: TokenCacheMetrics;
  readonly observe: RestObserver;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/** What is wrong with the file; met before the server is built. */
export function tokenWebhookError(options: Options): string | undefined {
  try {
    webhookConfigOf(options);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

export function buildTokenWebhook(options: Options, parts: TokenWebhookParts): TokenAuthenticator {
  const { apiAudiences, authenticationTokenWebhookVersion, authenticationTokenWebhookCacheTtlMs } =
    options.authentication;
  const config = webhookConfigOf(options);
  const client = clientOf(config, parts.dialer);
  const url = reviewUrl(config.server, TIMEOUT_MS);
  const wait = (ms: number): Promise<void> => pause(ms, parts.stopping);
  const webhook = createTokenWebhook({
    post: (body) =>
      restCall({
        client,
        url,
        body,
        timeoutMs: TIMEOUT_MS,
        maxBytes: SHORT_ANSWER_BYTES,
        wait,
        observe: parts.observe,
      }),
    version: authenticationTokenWebhookVersion === 'v1' ? 'v1' : 'v1beta1',
    apiAudiences,
    nowMs: () => performance.now(),
    random: Math.random,
    wait,
    log: parts.log,
  });
  return cachedTokens(webhook, {
    successTtlMs: authenticationTokenWebhookCacheTtlMs,
    failureTtlMs: authenticationTokenWebhookCacheTtlMs,
    memoizeErrors: false,
    nowMs: Date.now,
    clock: systemClock,
    metrics: parts.metrics,
  });
}

const webhookConfigOf = ({ authentication }: Options): ClientConfig =>
  clientConfigOf(loadKubeconfig(authentication.authenticationTokenWebhookConfigFile));
