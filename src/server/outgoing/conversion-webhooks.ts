// The way to the webhooks that convert custom resources. They are sent nothing about the client.
import crypto from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { HookClients } from '../../admission/webhooks/hook-clients.js';
import type { CustomKindOptions } from '../../crd/custom-kind.js';
import { webhookConverter } from '../../crd/conversion/converter.js';
import { conversionMetrics } from '../../crd/conversion/metrics.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { restCall, type RestObserver } from '../../machinery/rest-call.js';
import type { Lookup } from '../../registry/kind.js';
import { dialService, resolveByClusterIp, resolveByEndpoints } from '../../registry/service-address.js';
import type { Trace } from '../../tracing/trace.js';
import type { Dialers } from './dialers.js';
import type { Loopback } from './loopback.js';
import { restClientMetrics } from '../metrics/rest-client-metrics.js';

export interface ConversionWiring {
  readonly lookup: Lookup;
  readonly dialers: Dialers;
  /** The server as a client of itself. */
  readonly itself: Loopback['client'];
  /** Services are reached by their endpoints (--enable-aggregator-routing). */
  readonly byEndpoints: boolean;
  readonly metrics: MetricRegistry;
  readonly stopping: AbortSignal;
  /** Conversions are no part of a request's trace: readers share them. */
  readonly trace: Trace | undefined;
}

const TIMEOUT_MS = 30_000;
const ANONYMOUS = { headers: {}, tls: {} };

interface Made {
  readonly clients: HookClients;
  readonly recorderOf: ReturnType<typeof conversionMetrics>;
  readonly observe: RestObserver;
}

export function conversionWebhooks(wiring: ConversionWiring): NonNullable<CustomKindOptions['converterOf']> {
  const { lookup, dialers, metrics, stopping, trace } = wiring;
  let made: Made | undefined;
  const create = (): Made => {
    const resolve = wiring.byEndpoints ? resolveByEndpoints(lookup, Math.random) : resolveByClusterIp(lookup);
    const clients = new HookClients({
      identityFor: () => ANONYMOUS,
      dialer: dialers.controlplane,
      itself: wiring.itself,
      serviceDialer: (target) => dialService(resolve, target, dialers.cluster),
    });
    stopping.addEventListener('abort', () => clients.close(), { once: true });
    return { clients, recorderOf: conversionMetrics(metrics), observe: restClientMetrics(metrics) };
  };
  return ({ metadata, spec }) => {
    const { clients, recorderOf, observe } = (made ??= create());
    const { clientConfig = {}, conversionReviewVersions } = spec.conversion?.webhook ?? {};
    return webhookConverter({
      reviewVersions: conversionReviewVersions ?? [],
      newUid: () => crypto.randomUUID(),
      recorder: recorderOf(metadata.name ?? ''),
      async ask(body) {
        const { client, url, headers } = clients.of(clientConfig);
        const shown = `${url}?timeout=${TIMEOUT_MS / 1000}s`;
        return restCall({
          client,
          url: new URL(shown),
          shown,
          headers,
          body,
          timeoutMs: TIMEOUT_MS,
          trace,
          wait,
          observe,
        });
      },
    });
  };
}
