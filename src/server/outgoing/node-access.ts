// The clients that reach nodes and what runs on them.
import { lookup } from 'node:dns/promises';
import fs from 'node:fs';
import { readTextFile } from '../../lib/go/file-error.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Options } from '../../options/options.js';
import type { ClientTls } from '../../outbound/client-tls.js';
import type { Dialer } from '../../outbound/dialer.js';
import { HttpClient } from '../../outbound/http-client.js';
import type { HttpClientOptions } from '../../outbound/http-client-options.js';
import type { LogMetrics, NodeAccess } from '../../rest/contract/node-access.js';

export interface NodeAccessParts {
  /** The way into the cluster. */
  readonly dialer: Dialer;
  readonly metrics: MetricRegistry;
  readonly onDrained: (close: () => void) => void;
}

export type KubeletFlags = Pick<
  Options['misc'],
  | 'kubeletCertificateAuthority'
  | 'kubeletClientCertificate'
  | 'kubeletClientKey'
  | 'kubeletPort'
  | 'kubeletPreferredAddressTypes'
  | 'maxConnectionBytesPerSec'
>;

export function buildNodeAccess(flags: KubeletFlags, { dialer, metrics, onDrained }: NodeAccessParts): NodeAccess {
  const { kubeletCertificateAuthority: caFile, kubeletClientCertificate: certFile, kubeletClientKey: keyFile } = flags;
  // The authorities that kubelets' certificates are verified by stay as they were at the start. Where that cannot be
  // read, nobody is, until the start ends.
  const authority = caFile === '' ? undefined : readTextFile(caFile);
  const trusted = (): ClientTls => {
    if (authority === undefined) return ANYBODY;
    if (!authority.ok) throw new Error(authority.error);
    return { ca: authority.text };
  };
  // Read for every connection, so that renewed ones are used.
  const own = (): ClientTls => ({
    ...(certFile !== '' && { cert: fs.readFileSync(certFile) }),
    ...(keyFile !== '' && { key: fs.readFileSync(keyFile) }),
  });
  const verified = (): ClientTls => ({ ...own(), ...trusted() });
  const clientWith = (tls: () => ClientTls, more?: Pick<HttpClientOptions, 'probePlainHttp'>): HttpClient =>
    new HttpClient({ dialer, tls, upgradedBytesPerSecond: flags.maxConnectionBytesPerSec, ...more });
  const kubelets = clientWith(verified);
  const unverifiedKubelets = clientWith(() => ({ ...own(), ...ANYBODY }));
  // What listens at other ports is the client's affair, and gets no more than the client requested.
  const others = clientWith(() => ANYBODY, { probePlainHttp: false });
  onDrained(() => {
    for (const client of [kubelets, unverifiedKubelets, others]) client.close();
  });
  let logs: LogMetrics | undefined;
  return {
    kubelets,
    unverifiedKubelets,
    others,
    addressTypes: flags.kubeletPreferredAddressTypes,
    kubeletPort: flags.kubeletPort,
    resolveHost: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    // These metrics exist from the first log request on.
    logMetrics: () => (logs ??= logMetrics(metrics)),
  };
}

const ANYBODY = { insecure: true } as const;

function logMetrics(registry: MetricRegistry): LogMetrics {
  const metrics = {
    usage: registry.counter({
      name: 'kube_apiserver_pod_logs_insecure_backend_total',
      help: 'Total number of requests for pods/logs sliced by usage type: enforce_tls, skip_tls_allowed, skip_tls_denied',
      labels: ['usage'],
      stability: 'ALPHA',
    }),
    tlsFailures: registry.counter({
      name: 'kube_apiserver_pod_logs_backend_tls_failure_total',
      help: 'Total number of requests for pods/logs that failed due to kubelet server TLS verification',
      labels: [],
      stability: 'ALPHA',
    }),
  };
  metrics.tlsFailures.with();
  return metrics;
}
