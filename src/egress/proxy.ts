// What every kind of egress proxy can do.
import type { Dialer, DialTarget } from '../outbound/dialer.js';
import type { ProxyLabels } from './metrics.js';

/** A proxy that was reached, and can be asked once for a connection. */
export interface Proxy {
  readonly labels: ProxyLabels;
  /** Reaches the proxy; rejects when it is not there or is not to be trusted. */
  connect(signal: AbortSignal): Promise<ReachedProxy>;
}

export interface ReachedProxy {
  tunnel(target: DialTarget, signal: AbortSignal): ReturnType<Dialer['dial']>;
}
