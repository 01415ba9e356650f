// How long the certificates that clients show are still valid: whoever forgot to renew one is seen before it fails.
import type { MetricRegistry } from '../lib/telemetry/metrics.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;

/** Takes milliseconds, below zero for a certificate that is no longer valid. */
export function certificateExpiration(registry: MetricRegistry): (remainingMs: number) => void {
  const seconds = registry
    .histogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      help: 'Seconds until the certificate of a request expires.',
      buckets: [
        0,
        HOUR / 2,
        HOUR,
        2 * HOUR,
        6 * HOUR,
        12 * HOUR,
        DAY,
        2 * DAY,
        4 * DAY,
        7 * DAY,
        MONTH,
        3 * MONTH,
        6 * MONTH,
        12 * MONTH,
      ],
      stability: 'ALPHA',
    })
    .with();
  return (remainingMs) => seconds.observe(remainingMs / 1000);
}
