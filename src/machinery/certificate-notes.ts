// Certificates of other servers that today's rules do not allow: counted, and noted on the request that met them.
import type { MetricRegistry } from '../lib/telemetry/metrics.js';
import type { CertificateFault, OnCertificateFault } from '../outbound/certificate-faults.js';

const REASONS: Readonly<Record<CertificateFault, string>> = {
  'missing-san': 'relies on a legacy Common Name field instead of the SAN extension for subject validation',
  'insecure-sha1': 'uses an insecure SHA-1 signature',
};

/** For a request: `annotate` puts a note on its audit event. */
export type CertificateNotes = (annotate: (key: string, value: string) => void) => OnCertificateFault;

export function certificateNotes(registry: MetricRegistry, callers: 'webhooks' | 'kube_aggregator'): CertificateNotes {
  const counter = (fault: string, help: string) =>
    registry.counter({ name: `apiserver_${callers}_x509_${fault}_total`, help, stability: 'ALPHA' }).with();
  const counts = {
    'missing-san': counter('missing_san', 'Requests to servers whose certificates have no alternative names.'),
    'insecure-sha1': counter('insecure_sha1', 'Requests to servers whose certificates are signed by SHA-1.'),
  };
  return (annotate) => (fault, host) => {
    counts[fault].inc();
    if (host !== '') annotate(`${fault}.invalid-cert.kubernetes.io/${host}`, REASONS[fault]);
  };
}
