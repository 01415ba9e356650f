// The ways to nodes and to what runs on them.
import type { Counter } from '../../lib/telemetry/metrics.js';
import type { HttpClient } from '../../outbound/http-client.js';

export interface NodeAccess {
  /** To the kubelets: with our certificate, and theirs verified where an authority is known. */
  readonly kubelets: HttpClient;
  /** To the kubelets with their certificates unverified: for clients that consent to it. */
  readonly unverifiedKubelets: HttpClient;
  /** To pods, services and other ports of nodes: no certificate is shown, and any is accepted. */
  readonly others: HttpClient;
  /** Which of a node's addresses to use: the first type that it has. */
  readonly addressTypes: readonly string[];
  /** Where the kubelet of a node listens that does not say so. */
  readonly kubeletPort: number;
  /** The addresses a name stands for. */
  readonly resolveHost: (host: string) => Promise<readonly string[]>;
  readonly logMetrics: () => LogMetrics;
}

export interface LogMetrics {
  /** Logs requested, by whether the kubelet's certificate was to be verified. */
  readonly usage: Counter;
  /** Agents that could not be verified. */
  readonly tlsFailures: Counter;
}
