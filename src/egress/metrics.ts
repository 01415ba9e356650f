import type { MetricRegistry } from '../lib/telemetry/metrics.js';

export interface ProxyLabels {
  readonly protocol: 'http_connect' | 'grpc';
  readonly transport: 'tcp' | 'uds';
}

export interface DialObserver {
  started(): void;
  /** At which stage: reaching the proxy, or being let through. */
  failed(stage: 'connect' | 'proxy'): void;
  succeeded(seconds: number): void;
}

export type DialFailureReason = 'timeout' | 'context' | 'endpoint' | 'dialclosed' | 'tunnelclosed' | 'unknown';

/** What happens inside gRPC tunnels. */
export interface TunnelObserver {
  packet(segment: 'from_client' | 'to_client', type: string): void;
  dialFailed(reason: DialFailureReason): void;
  /** Reading ended otherwise than well; `code` is gRPC's name. */
  streamFailed(code: string): void;
  /** One connection goes from one state to another; undefined where it begins or ends. */
  moved(from: TunnelState | undefined, to: TunnelState | undefined): void;
}

export type TunnelState = 'created' | 'dialing' | 'ok' | 'closing';

export interface EgressMetrics {
  dialsOf(labels: ProxyLabels): DialObserver;
  readonly tunnel: TunnelObserver;
}

const LATENCY_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

export function egressMetrics(registry: MetricRegistry): EgressMetrics {
  const starts = registry.counter({
    name: 'apiserver_egress_dialer_dial_start_total',
    help: 'Dials through a proxy that were begun, by protocol and transport.',
    labels: ['protocol', 'transport'],
    stability: 'ALPHA',
  });
  const durations = registry.histogram({
    name: 'apiserver_egress_dialer_dial_duration_seconds',
    help: 'Seconds it took to dial through a proxy, by protocol and transport.',
    labels: ['protocol', 'transport'],
    stability: 'ALPHA',
    buckets: LATENCY_BUCKETS,
  });
  const failures = registry.counter({
    name: 'apiserver_egress_dialer_dial_failure_count',
    help: 'Dials through a proxy that failed, by protocol, transport and stage (connect or proxy).',
    labels: ['protocol', 'transport', 'stage'],
    stability: 'ALPHA',
  });
  const packets = registry.counter({
    name: 'konnectivity_network_proxy_client_stream_packets_total',
    help: 'Packets sent into tunnels and received from them, by segment and type.',
    labels: ['segment', 'packet_type'],
    stability: 'ALPHA',
  });
  const streamFailures = registry.counter({
    name: 'konnectivity_network_proxy_client_stream_errors_total',
    help: "Streams of tunnels that failed, by segment, gRPC's code and the type of the packet.",
    labels: ['segment', 'code', 'packet_type'],
    stability: 'ALPHA',
  });
  const dialFailures = registry.counter({
    name: 'konnectivity_network_proxy_client_dial_failure_total',
    help: 'Dials through tunnels that failed, by reason.',
    labels: ['reason'],
    stability: 'ALPHA',
  });
  const connections = registry.gauge({
    name: 'konnectivity_network_proxy_client_client_connections',
    help: 'Connections through tunnels, by their state.',
    labels: ['status'],
    stability: 'ALPHA',
  });
  return {
    dialsOf: ({ protocol, transport }) => ({
      started: () => starts.with(protocol, transport).inc(),
      failed: (stage) => failures.with(protocol, transport, stage).inc(),
      succeeded: (seconds) => durations.with(protocol, transport).observe(seconds),
    }),
    tunnel: {
      packet: (segment, type) => packets.with(segment, type).inc(),
      streamFailed: (code) => streamFailures.with('to_client', code, 'Unknown').inc(),
      dialFailed: (reason) => dialFailures.with(reason).inc(),
      moved(from, to) {
        if (from !== undefined) connections.with(from).add(-1);
        if (to !== undefined) connections.with(to).add(1);
      },
    },
  };
}
