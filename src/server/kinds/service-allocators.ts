// Connects the pools of service addresses and node ports to what is stored.
import type { Logger } from '../../lib/telemetry/log.js';
import crypto from 'node:crypto';
import { errorText } from '../../lib/text/error-text.js';
import { type AddressObjects, createAddressAllocator } from '../../apis/core/service/address-allocator.js';
import { addressBitmaps, createBitmapAllocator, takenInBoth } from '../../apis/core/service/address-bitmap.js';
import type { AddressAllocator, ServiceAllocators } from '../../apis/core/service/allocators.js';
import {
  createNodePortAllocator,
  nodePortBitmap,
  type PortRange,
} from '../../apis/core/service/node-port-allocator.js';
import { createAddressBitmapRepair, createNodePortRepair } from '../../apis/core/service/range-repair.js';
import { repairAddresses } from '../../apis/core/service/repair.js';
import { createServerClient, SERVER_MANAGER } from '../../registry/server-client.js';
import { repeat } from '../../lib/async/repeat.js';
import type { Cidr } from '../../lib/values/ip-address.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import { StatusError } from '../../machinery/status.js';
import type { LifeContext } from '../../registry/kind.js';
import type { Service } from '../../schema/generated/core.v1.js';
import type { IPAddress, ServiceCIDR } from '../../schema/generated/networking.v1.js';
import { mustType } from '../../schema/catalogue.js';
import { objectCodec } from '../../rest/wire/object-codec.js';
import { createAddressMetrics, createNodePortMetrics } from './allocation-metrics.js';
import type { PostStartHook } from '../lifecycle/post-start-hooks.js';
import type { Resources } from './resources.js';

const IP_ADDRESSES = { group: 'networking.k8s.io', resource: 'ipaddresses' };
const ENDPOINTS = { group: '', resource: 'endpoints' };
const SERVICES = { group: '', resource: 'services' };
const REPAIR_INTERVAL_MS = 3 * 60_000;
/** Then the server ends: without it nobody knows which addresses and ports are allocated. */
const REPAIR_TIMEOUT_MS = 60_000;
const SERVICE_CIDRS = { group: 'networking.k8s.io', resource: 'servicecidrs' };

export interface AllocatorOptions {
  readonly resources: Resources;
  readonly prefix: string;
  readonly ranges: readonly Cidr[];
  readonly nodePorts: PortRange;
  readonly features: { enabled(name: 'MultiCIDRServiceAllocator' | 'DisableAllocatorDualWrite'): boolean };
  readonly context: () => LifeContext;
  readonly log: Logger;
  readonly metrics: MetricRegistry;
}

export interface ServicePools extends ServiceAllocators {
  /** Brings the pools in line with the stored services, at the start and then again and again. */
  readonly repair: PostStartHook;
}

export function createServiceAllocators(options: AllocatorOptions): ServicePools {
  const { resources, ranges, context, features } = options;
  const store = resources.openStore({
    resource: { group: '', resource: 'servicenodeportallocations' },
    prefix: `${options.prefix}/ranges/`,
    namespaced: false,
    codec: objectCodec(mustType('io.k8s.api.core.v1.RangeAllocation')),
    fieldsOf: () => ({}),
  });
  const client = createServerClient({ operations: resources.operations, lookup: resources.lookup, context });
  const objects: AddressObjects = {
    async serviceCidrs() {
      const stored = await resources.lookup.list(SERVICE_CIDRS, '');
      return stored.map((item) => item.object() as ServiceCIDR);
    },
    async exists(name) {
      return (await resources.lookup.get(IP_ADDRESSES, '', name)) !== undefined;
    },
    create: (address) => client.create(IP_ADDRESSES, address, SERVER_MANAGER),
    async delete(name) {
      try {
        await resources.operations.delete(IP_ADDRESSES, '', name, {}, context());
        return true;
      } catch (error) {
        if (!(error instanceof StatusError && error.code === 404)) throw error;
        return false;
      }
    },
  };
  const addressObjects = async (): Promise<readonly Readonly<IPAddress>[]> =>
    (await resources.lookup.list(IP_ADDRESSES, '')).map((item) => item.object() as IPAddress);
  const services = async (): Promise<readonly Readonly<Service>[]> =>
    (await resources.lookup.list(SERVICES, '')).map((item) => item.object() as Service);
  const { log } = options;
  const random = (below: number): number => crypto.randomInt(below);
  const addressMetrics = createAddressMetrics(options.metrics, () => performance.now());
  const portMetrics = createNodePortMetrics(options.metrics, options.nodePorts.size);
  const ports = nodePortBitmap(store, options.nodePorts, random, portMetrics.inUse);
  const hasObjects = features.enabled('MultiCIDRServiceAllocator');
  const hasBitmaps = !hasObjects || !features.enabled('DisableAllocatorDualWrite');
  const bitmaps = hasBitmaps ? addressBitmaps(ranges, store, random) : [];
  const parts = { services, log };
  const repairPorts = createNodePortRepair(ports, options.nodePorts, parts);
  const repairs = [
    async () => {
      try {
        await repairPorts();
      } catch (error) {
        portMetrics.repairFailed();
        throw error;
      }
    },
    ...bitmaps.map((bitmap) => createAddressBitmapRepair(bitmap, parts)),
  ];
  if (hasObjects) {
    repairs.push(async () => {
      await repairAddresses({
        ...parts,
        addresses: addressObjects,
        create: (address) => objects.create(address),
        delete: (name) => objects.delete(name),
        now: () => context().now(),
      });
      addressMetrics.found(await addressObjects());
    });
  }
  const repair = async (): Promise<void> => {
    for (const each of repairs) await each();
  };
  const addresses = (): AddressAllocator => {
    if (!hasObjects) return createBitmapAllocator(bitmaps);
    const asObjects = createAddressAllocator({
      ranges,
      random: (below) => crypto.randomBytes(8).readBigUInt64BE() % below,
      objects,
      metrics: addressMetrics,
    });
    return hasBitmaps ? takenInBoth(bitmaps, asObjects) : asObjects;
  };
  return {
    families: ranges.map(({ family }) => (family === 4 ? 'IPv4' : 'IPv6')),
    nodePorts: createNodePortAllocator(ports, options.nodePorts, portMetrics),
    addresses: addresses(),
    leaked: (what, error) => log.info(`cannot release the ${what}: ${errorText(error)}`),
    repair: {
      name: 'start-service-ip-repair-controllers',
      run: (signal) => repeat(repair, { everyMs: REPAIR_INTERVAL_MS, timeoutMs: REPAIR_TIMEOUT_MS, signal, log }),
    },
  };
}

/** The endpoints of a service that is gone; there may be none. */
export async function deleteEndpoints(
  resources: Resources,
  namespace: string,
  name: string,
  context: LifeContext,
): Promise<void> {
  try {
    await resources.operations.delete(ENDPOINTS, namespace, name, {}, context);
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}
