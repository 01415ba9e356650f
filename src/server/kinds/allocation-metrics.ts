// How service addresses and node ports are allocated, under the names dashboards know.
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from '../../apis/core/service/address-allocator.js';
import { usable } from '../../apis/core/service/address-range.js';
import type { AddressMetrics, NodePortMetrics } from '../../apis/core/service/allocators.js';
import { type Cidr, cidrText } from '../../lib/values/ip-address.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { IPAddress } from '../../schema/generated/networking.v1.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface CountedAddresses extends AddressMetrics {
  /** Recounts all there are, from time to time: in between only this server's allocations and releases are counted. */
  found(addresses: readonly Readonly<IPAddress>[]): void;
}

export function createAddressMetrics(registry: MetricRegistry, nowMs: () => number): CountedAddresses {
  const define = (name: string, help: string, labels: string[]) =>
    ({ name: `kube_apiserver_clusterip_allocator_${name}`, help, labels, stability: 'ALPHA' }) as const;
  // Of worker processes the one knows most that recounts.
  const allocated = registry.gauge({
    ...define('allocated_ips', 'Service addresses that are taken.', ['cidr']),
    across: 'max',
  });
  const available = registry.gauge({
    ...define('available_ips', 'Service addresses that are free.', ['cidr']),
    across: 'min',
  });
  const taken = registry.counter(define('allocation_total', 'Service cluster IPs allocated.', ['cidr', 'scope']));
  const failed = registry.counter(
    define('allocation_errors_total', 'Service cluster IPs that could not be allocated.', ['cidr', 'scope']),
  );
  const seconds = registry.histogram({
    ...define('allocation_duration_seconds', 'How long it took to give out a service address.', ['cidr']),
    buckets: SECONDS,
  });
  const seen = new Map<string, Cidr>();
  const used = { 4: 0, 6: 0 };
  // Each block reports the addresses of its family, as kube-apiserver does.
  const show = (): void => {
    for (const [text, cidr] of seen) {
      const { first, last } = usable(cidr);
      allocated.with(text).set(used[cidr.family]);
      available.with(text).set(Number(last - first + 1n) - used[cidr.family]);
    }
  };
  return {
    nowMs,
    taken(cidr, scope, took) {
      const text = cidrText(cidr);
      seen.set(text, cidr);
      used[cidr.family]++;
      taken.with(text, scope).inc();
      seconds.with(text).observe(took);
      show();
    },
    failed: (cidr, scope) => failed.with(cidrText(cidr), scope).inc(),
    released(family) {
      used[family]--;
      show();
    },
    found(addresses) {
      const ours = addresses.filter(({ metadata: { labels } }) => labels?.[MANAGED_BY_LABEL] === ALLOCATOR_NAME);
      used[6] = ours.filter(({ metadata: { labels } }) => labels?.[FAMILY_LABEL] === 'IPv6').length;
      used[4] = ours.filter(({ metadata: { labels } }) => labels?.[FAMILY_LABEL] === 'IPv4').length;
      show();
    },
  };
}

export interface CountedPorts extends NodePortMetrics {
  readonly inUse: (count: number) => void;
  readonly repairFailed: () => void;
}

export function createNodePortMetrics(registry: MetricRegistry, size: number): CountedPorts {
  const define = (name: string, help: string, labels: string[] = []) =>
    ({ name: `kube_apiserver_nodeport_allocator_${name}`, help, labels, stability: 'ALPHA' }) as const;
  const allocated = registry.gauge(define('allocated_ports', 'Node ports that are taken.'));
  const available = registry.gauge(define('available_ports', 'Node ports that are free.'));
  const taken = registry.counter(define('allocation_total', 'Node ports allocated.', ['scope']));
  const failed = registry.counter(
    define('allocation_errors_total', 'Node ports that could not be allocated.', ['scope']),
  );
  const repairs = registry.counter({
    name: 'apiserver_nodeport_repair_reconcile_errors_total',
    help: 'Times that node ports could not be brought in line with services.',
    stability: 'ALPHA',
  });
  repairs.with();
  return {
    taken: (scope) => taken.with(scope).inc(),
    failed: (scope) => failed.with(scope).inc(),
    inUse(count) {
      allocated.with().set(count);
      available.with().set(size - count);
    },
    repairFailed: () => repairs.with().inc(),
  };
}
