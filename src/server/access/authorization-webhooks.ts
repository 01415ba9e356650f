// Webhooks of the authorization chain: their client, and the authorizer that calls it.
import type { Authorizer } from '../../authz/authorizer.js';
import { webhookAuthorizer } from '../../authz/webhook/authorizer.js';
import type { WebhookMetrics } from '../../authz/webhook/metrics.js';
import type { WebhookConfig } from '../../config/authorization/config.js';
import { type ClientConfig, clientConfigOf, clientOf } from '../../config/client-config.js';
import { inClusterConfig } from '../../config/in-cluster.js';
import { loadKubeconfig } from '../../config/kubeconfig.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { pause } from '../../lib/async/pause.js';
import { restCall, type RestObserver, SHORT_ANSWER_BYTES } from '../../machinery/rest-call.js';
import { reviewUrl } from '../../machinery/review-url.js';
import type { Dialer } from '../../outbound/dialer.js';

export interface WebhookParts {
  readonly dialer: Dialer;
  readonly metrics: WebhookMetrics;
  readonly observe: RestObserver;
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

export interface ConnectedWebhook {
  readonly authorizer: Authorizer;
  /** Closes the client's connections, when no authorizer uses it any more. */
  close(): void;
}

/** Throws a ConfigError when the way to the webhook is not well described. */
export function connectWebhook(name: string, config: WebhookConfig, parts: WebhookParts): ConnectedWebhook {
  const { kubeConfigFile, timeoutMs } = config;
  const way: ClientConfig =
    kubeConfigFile === undefined ? inClusterConfig(process.env) : clientConfigOf(loadKubeconfig(kubeConfigFile));
  const client = clientOf(way, parts.dialer);
  const url = reviewUrl(way.server, timeoutMs);
  const wait = (ms: number): Promise<void> => pause(ms, parts.stopping);
  const authorizer = webhookAuthorizer({
    ...config,
    name,
    version: config.reviewVersion,
    post: (body, signal) =>
      restCall({
        client,
        url,
        body,
        timeoutMs,
        maxBytes: SHORT_ANSWER_BYTES,
        wait,
        observe: parts.observe,
        ...(signal && { signal }),
      }),
    metrics: parts.metrics,
    nowMs: () => performance.now(),
    random: Math.random,
    wait,
    log: parts.log,
  });
  return { authorizer, close: () => client.close() };
}
