// Traces, when a file says where to: which requests are recorded, and the way to the collector.
import os from 'node:os';
import { identityOf } from '../../bootstrap/identity-lease.js';
import { systemClock } from '../../lib/async/clock.js';
import { errorText } from '../../lib/text/error-text.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Dialer } from '../../outbound/dialer.js';
import type { TracingConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import { encodeSpans } from '../../tracing/otlp.js';
import { type DropReason, SpanQueue } from '../../tracing/span-queue.js';
import { Tracer } from '../../tracing/tracer.js';
import { Collector, collectorAt } from './collector.js';

export interface TracingParts {
  readonly metrics: MetricRegistry;
  /** The way to a collector that is not on a unix socket. */
  readonly dialer: Dialer;
  readonly log: Logger;
  readonly onDrained: (close: () => Promise<void>) => void;
}

/** How long the end of the server waits for the collector to receive what is left. */
const FLUSH_MS = 5_000;
/** One line for each of so many failures in a row, lest a collector that is away fills the log. */
const LOGGED_EVERY_MS = 60_000;

export function buildTracing(config: TracingConfiguration, parts: TracingParts): Tracer {
  const { metrics, dialer, log } = parts;
  const resource = { 'service.name': 'apiserver', 'service.instance.id': identityOf(os.hostname()) };
  const collector = new Collector(collectorAt(config.endpoint ?? undefined, dialer));
  const dropped = metrics.counter({
    name: 'apiserver_tracing_dropped_spans_total',
    help: 'Spans that did not reach the collector, by reason.',
    labels: ['reason'],
    stability: 'ALPHA',
  });
  const exported = metrics.counter({
    name: 'apiserver_tracing_exported_spans_total',
    help: 'Spans that the collector took.',
    stability: 'ALPHA',
  });
  let loggedMs = -LOGGED_EVERY_MS;
  const queue = new SpanQueue({
    clock: systemClock,
    async deliver(spans, signal) {
      await collector.send(encodeSpans(resource, spans), signal);
      exported.with().inc(spans.length);
    },
    onDropped: (count: number, why: DropReason) => dropped.with(why).inc(count),
    onFailed(error) {
      if (performance.now() - loggedMs < LOGGED_EVERY_MS) return;
      loggedMs = performance.now();
      log.info('The collector does not accept spans', { err: errorText(error) });
    },
  });
  parts.onDrained(async () => {
    // Neither the queue's timers nor the connection keep the process alive.
    const alive = setTimeout(() => undefined, 2 * FLUSH_MS);
    await queue.close(FLUSH_MS);
    collector.close();
    clearTimeout(alive);
  });
  return new Tracer({ ratePerMillion: config.samplingRatePerMillion ?? 0, onEnd: (span) => queue.add(span) });
}
