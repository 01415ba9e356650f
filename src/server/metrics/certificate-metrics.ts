import type { IssuedMetrics } from '../../apis/certificates/issued-duration.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';

/** How often certificates were issued for a requested lifetime, and how often for just that time. */
export function createIssuedMetrics(registry: MetricRegistry): IssuedMetrics {
  const counter = (what: string, help: string) =>
    registry.counter({
      name: `apiserver_certificates_registry_csr_${what}_duration_total`,
      help,
      labels: ['signerName'],
      stability: 'ALPHA',
    });
  const requested = counter('requested', 'Certificates issued to who said for how long, by their signer.');
  const honored = counter('honored', 'Certificates issued for as long as was asked, by their signer.');
  return {
    issued(signer, isHonored) {
      requested.with(signer).inc();
      if (isHonored) honored.with(signer).inc();
    },
  };
}
