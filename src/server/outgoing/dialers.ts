// The egress of the server, by destination. Nothing in the server connects to anything but through one of these.
import { loadEgress } from '../../config/egress/load.js';
import { createEgress, type EgressSelectionName } from '../../egress/egress.js';
import { egressMetrics } from '../../egress/metrics.js';
import { systemClock } from '../../lib/async/clock.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Options } from '../../options/options.js';
import { type Dialer, directDialer } from '../../outbound/dialer.js';

export interface Dialers {
  /** Nodes, pods, services, and what runs in the cluster: webhooks by service, extension servers. */
  readonly cluster: Dialer;
  /** What runs beside the server: webhooks by address, those of authentication, authorization and audit, collectors. */
  readonly controlplane: Dialer;
  readonly etcd: Dialer;
  /** The other API servers, always direct, whatever is configured. */
  readonly peers: Dialer;
  /** The egress selections that the configuration names, and no others. */
  readonly configured: ReadonlyMap<EgressSelectionName, Dialer>;
}

/** A selection that is not configured goes straight to its target. */
export function createDialers(options: Options, registry: MetricRegistry): Dialers {
  const file = options.egressSelector.egressSelectorConfigFile;
  const configured =
    file === ''
      ? new Map<EgressSelectionName, Dialer>()
      : createEgress(loadEgress(file), { metrics: egressMetrics(registry), clock: systemClock });
  return {
    cluster: configured.get('cluster') ?? directDialer,
    controlplane: configured.get('controlplane') ?? directDialer,
    etcd: configured.get('etcd') ?? directDialer,
    peers: directDialer,
    configured,
  };
}
