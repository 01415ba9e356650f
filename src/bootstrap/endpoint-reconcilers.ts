// How servers keep the endpoints of their own service together: --endpoint-reconciler-type.
import type { EndpointAddress } from '../schema/generated/core.v1.js';
import { deepEqual } from '../lib/values/deep-equal.js';
import type { ServerEndpoints, Subsets } from './server-endpoints.js';

export interface EndpointReconciler {
  /** Sees to it that this server's address is among the endpoints. */
  reconcile(): Promise<void>;
  /** Takes this server's address away. */
  remove(): Promise<void>;
  /** From now on addresses are only removed. */
  stop(): void;
}

/** Which servers are alive: each keeps a record with a short life. */
export interface MasterLeases {
  renew(): Promise<void>;
  addresses(): Promise<readonly string[]>;
  /** Takes this server's record away; answers whether there was one. */
  remove(): Promise<boolean>;
}

/** Others keep the endpoints. */
export const noReconciler: EndpointReconciler = {
  reconcile: async () => undefined,
  remove: async () => undefined,
  stop: () => undefined,
};

/** The endpoints are the servers that renew their leases: one that dies is gone when its lease is. */
export function leaseReconciler(endpoints: ServerEndpoints, leases: MasterLeases): EndpointReconciler {
  let stopped = false;
  const bringInLine = async (withPorts: boolean): Promise<void> => {
    const addresses = await leases.addresses();
    // This server has just renewed its own: none at all is a fault of the store, unless this was the last one.
    if (!stopped && addresses.length === 0) {
      throw new Error(
        'no API server IP addresses were listed in storage, refusing to erase all endpoints for the kubernetes Service',
      );
    }
    await endpoints.keep((subsets) => {
      if (subsets === undefined && stopped) return undefined;
      const [subset] = subsets ?? [];
      if (subset === undefined || subsets?.length !== 1) return subsetsOf({ ports: [...endpoints.ports] }, addresses);
      const ports = withPorts ? [...endpoints.ports] : (subset.ports ?? []);
      const known = (subset.addresses ?? []).map(({ ip }) => ip);
      if (deepEqual([...known].sort(), [...addresses].sort())) return [{ ...subset, ports }];
      return subsetsOf({ ...subset, ports }, addresses);
    });
  };
  return {
    async reconcile() {
      if (stopped) return;
      await leases.renew();
      await bringInLine(false);
    },
    async remove() {
      if (await leases.remove()) await bringInLine(true);
    },
    stop: () => (stopped = true),
  };
}

/**
 * The endpoints are as many as there are said to be: --apiserver-count. Each server adds its address, and where that
 * makes too many removes those that follow its own. One that dies stays until another takes its place.
 */
export function masterCountReconciler(
  endpoints: ServerEndpoints,
  address: string,
  masterCount: number,
): EndpointReconciler {
  let stopped = false;
  return {
    async reconcile() {
      if (stopped) return;
      await endpoints.keep((subsets) => {
        const [subset] = subsets ?? [];
        if (subset === undefined || subsets?.length !== 1) return subsetsOf({ ports: [...endpoints.ports] }, [address]);
        const known = (subset.addresses ?? []).map(({ ip }) => ip);
        if (known.includes(address) && known.length <= masterCount) return subsets;
        return subsetsOf(subset, atMost(masterCount, [...new Set([...known, address])].sort(), address));
      });
    },
    remove: () =>
      endpoints.keep((subsets) => {
        const [subset, ...others] = subsets ?? [];
        if (subset === undefined) return subsets;
        const left = (subset.addresses ?? []).filter(({ ip }) => ip !== address);
        return [...subsetsOf(subset, left), ...others];
      }),
    stop: () => (stopped = true),
  };
}

/** A subset with these addresses, in order; none where nothing is left in it. */
function subsetsOf(subset: Subsets[number], addresses: readonly (string | EndpointAddress)[]): Subsets {
  const { addresses: _, ...rest } = subset;
  const sorted = addresses
    .map((address) => (typeof address === 'string' ? { ip: address } : address))
    .sort((a, b) => (a.ip < b.ip ? -1 : 1));
  if (sorted.length > 0) return [{ addresses: sorted, ...rest }];
  return rest.notReadyAddresses === undefined ? [] : [rest];
}

/** Drops those that follow `own`, beginning again at the front after the last. */
function atMost(count: number, sorted: readonly string[], own: string): string[] {
  const at = sorted.indexOf(own);
  const fromOwn = [...sorted.slice(at), ...sorted.slice(0, at)];
  const excess = Math.min(Math.max(sorted.length - count, 0), sorted.length - 1);
  return [own, ...fromOwn.slice(1 + excess)];
}
