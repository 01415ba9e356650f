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
import { createServerClient, SERVER_MANAGER, type ServerClient } from '../../registry/server-client.js';
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
  const { resources, ranges, nodePorts, features, log } = options;
  const store = resources.openStore({
    resource: { group: '', resource: 'servicenodeportallocations' },
    prefix: `${options.prefix}/ranges/`,
    namespaced: false,
    codec: objectCodec(mustType('io.k8s.api.core.v1.RangeAllocation')),
    fieldsOf: () => ({}),
  });
  const objects = new StoredAddresses(options);
  const addressMetrics = createAddressMetrics(options.metrics, () => performance.now());
  const portMetrics = createNodePortMetrics(options.metrics, nodePorts.size);
  const ports = nodePortBitmap(store, nodePorts, randomBelow, portMetrics.inUse);
  const hasObjects = features.enabled('MultiCIDRServiceAllocator');
  const hasBitmaps = !hasObjects || !features.enabled('DisableAllocatorDualWrite');
  const bitmaps = hasBitmaps ? addressBitmaps(ranges, store, randomBelow) : [];
  const repairs = repairsOf(options, { ports, portMetrics, bitmaps, objects, addressMetrics, hasObjects });
  const repair = async (): Promise<void> => {
    for (const each of repairs) await each();
  };
  const addresses = (): AddressAllocator => {
    if (!hasObjects) return createBitmapAllocator(bitmaps);
    const random = (below: bigint): bigint => crypto.randomBytes(8).readBigUInt64BE() % below;
    const asObjects = createAddressAllocator({ ranges, random, objects, metrics: addressMetrics });
    return hasBitmaps ? takenInBoth(bitmaps, asObjects) : asObjects;
  };
  return {
    families: ranges.map(({ family }) => (family === 4 ? 'IPv4' : 'IPv6')),
    nodePorts: createNodePortAllocator(ports, nodePorts, portMetrics),
    addresses: addresses(),
    leaked: (what, error) => log.info(`cannot release the ${what}: ${errorText(error)}`),
    repair: {
      name: 'start-service-ip-repair-controllers',
      run: (signal) => repeat(repair, { everyMs: REPAIR_INTERVAL_MS, timeoutMs: REPAIR_TIMEOUT_MS, signal, log }),
    },
  };
}

const randomBelow = (below: number): number => crypto.randomInt(below);

interface RepairedPools {
  readonly ports: ReturnType<typeof nodePortBitmap>;
  readonly portMetrics: ReturnType<typeof createNodePortMetrics>;
  readonly bitmaps: ReturnType<typeof addressBitmaps>;
  readonly objects: StoredAddresses;
  readonly addressMetrics: ReturnType<typeof createAddressMetrics>;
  /** Addresses are IPAddress objects. */
  readonly hasObjects: boolean;
}

/** What brings each pool in line with the stored services, in this order. */
function repairsOf({ resources, nodePorts, context, log }: AllocatorOptions, pools: RepairedPools): Repair[] {
  const { objects, portMetrics, addressMetrics } = pools;
  const services = async (): Promise<readonly Readonly<Service>[]> =>
    (await resources.lookup.list(SERVICES, '')).map((item) => item.object() as Service);
  const parts = { services, log };
  const repairPorts = createNodePortRepair(pools.ports, nodePorts, parts);
  const repairs: Repair[] = [
    async () => {
      try {
        await repairPorts();
      } catch (error) {
        portMetrics.repairFailed();
        throw error;
      }
    },
    ...pools.bitmaps.map((bitmap) => createAddressBitmapRepair(bitmap, parts)),
  ];
  if (pools.hasObjects) {
    repairs.push(async () => {
      await repairAddresses({
        ...parts,
        addresses: () => objects.all(),
        create: (address) => objects.create(address),
        delete: (name) => objects.delete(name),
        now: () => context().now(),
      });
      addressMetrics.found(await objects.all());
    });
  }
  return repairs;
}

type Repair = () => Promise<void>;

/** The objects by which addresses are allocated, as they are stored. */
class StoredAddresses implements AddressObjects {
  readonly #options: AllocatorOptions;
  readonly #client: ServerClient;

  constructor(options: AllocatorOptions) {
    const { resources, context } = options;
    this.#options = options;
    this.#client = createServerClient({ operations: resources.operations, lookup: resources.lookup, context });
  }

  async serviceCidrs(): Promise<readonly Readonly<ServiceCIDR>[]> {
    const stored = await this.#options.resources.lookup.list(SERVICE_CIDRS, '');
    return stored.map((item) => item.object() as ServiceCIDR);
  }

  async all(): Promise<readonly Readonly<IPAddress>[]> {
    const stored = await this.#options.resources.lookup.list(IP_ADDRESSES, '');
    return stored.map((item) => item.object() as IPAddress);
  }

  async exists(name: string): Promise<boolean> {
    return (await this.#options.resources.lookup.get(IP_ADDRESSES, '', name)) !== undefined;
  }

  create(address: IPAddress): Promise<boolean> {
    return this.#client.create(IP_ADDRESSES, address, SERVER_MANAGER);
  }

  async delete(name: string): Promise<boolean> {
    const { resources, context } = this.#options;
    try {
      await resources.operations.delete({
        resource: IP_ADDRESSES,
        namespace: '',
        name,
        options: {},
        context: context(),
      });
      return true;
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
      return false;
    }
  }
}

/** The endpoints of a service that is gone; there may be none. */
export async function deleteEndpoints(
  resources: Resources,
  namespace: string,
  name: string,
  context: LifeContext,
): Promise<void> {
  try {
    await resources.operations.delete({ resource: ENDPOINTS, namespace, name, options: {}, context });
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}
