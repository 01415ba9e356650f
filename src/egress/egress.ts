// The egress selector: a dialer for each selection of the configuration.
import type { Duplex } from 'node:stream';
import type { Connection, EgressSelectorConfiguration } from '../schema/generated/apiserver.v1beta1.js';
import type { Clock } from '../lib/async/clock.js';
import { addressOf, type Dialer, type DialTarget, directDialer } from '../outbound/dialer.js';
import type { EgressMetrics } from './metrics.js';
import { httpConnectProxy } from './http-connect.js';
import { grpcProxy } from './grpc-proxy.js';
import type { Proxy } from './proxy.js';

export type EgressSelectionName = 'cluster' | 'controlplane' | 'etcd';

export interface EgressOptions {
  readonly metrics: EgressMetrics;
  readonly clock: Clock;
}

/** The dialers of the selections that are configured. Throws an Error that says which one cannot be. */
export function createEgress(
  { egressSelections }: EgressSelectorConfiguration,
  options: EgressOptions,
): ReadonlyMap<EgressSelectionName, Dialer> {
  const dialers = new Map<EgressSelectionName, Dialer>();
  for (const { name, connection } of egressSelections ?? []) {
    try {
      const proxy = proxyOf(connection, options.metrics);
      dialers.set(name as EgressSelectionName, proxy === undefined ? directDialer : proxyDialer(proxy, options));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`failed to create dialer for egressSelection "${name}": ${why}`, { cause: error });
    }
  }
  return dialers;
}

/** Undefined: none is between. The configuration was validated. */
function proxyOf({ proxyProtocol, transport }: Connection, metrics: EgressMetrics): Proxy | undefined {
  const unixPath = transport?.uds?.udsName;
  if (proxyProtocol === 'GRPC' && unixPath !== undefined) return grpcProxy(unixPath, metrics.tunnel);
  if (proxyProtocol !== 'HTTPConnect') return undefined;
  if (unixPath !== undefined) return httpConnectProxy({ unixPath });
  const { url = '', tlsConfig } = transport?.tcp ?? {};
  return httpConnectProxy({ url, tls: tlsConfig ?? {} });
}

function proxyDialer(proxy: Proxy, { metrics, clock }: EgressOptions): Dialer {
  const { protocol, transport } = proxy.labels;
  const observe = metrics.dialsOf(proxy.labels);
  return {
    async dial(target, signal, trace) {
      const span = trace?.span?.child(`Proxy via ${protocol} protocol over ${transport}`, {
        address: addressOf(target),
      });
      try {
        return await dial(target, signal);
      } finally {
        span?.end();
      }
    },
  };

  async function dial(target: DialTarget, signal: AbortSignal): Promise<Duplex> {
    const startMs = clock.now();
    observe.started();
    const reached = await proxy.connect(signal).catch((error: unknown) => {
      observe.failed('connect');
      throw error;
    });
    const connection = await reached.tunnel(target, signal).catch((error: unknown) => {
      observe.failed('proxy');
      throw error;
    });
    observe.succeeded((clock.now() - startMs) / 1000);
    return connection;
  }
}
