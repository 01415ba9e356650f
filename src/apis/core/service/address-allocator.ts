// Cluster addresses: an address is allocated when an IPAddress object of its name exists. Creating that object is what
// decides between servers; ServiceCIDR objects say which addresses there are.
import { type Cidr, formatIp, ipText, parseCidr, parseIp } from '../../../lib/values/ip-address.js';
import { StatusError } from '../../../machinery/status.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import type { IPAddress, ServiceCIDR } from '../../../schema/generated/networking.v1.js';
import { isUsable, notInRange, reservedForChoice, type Span, usable } from './address-range.js';
import {
  type AddressAllocator,
  type AddressMetrics,
  AllocationError,
  type AllocationScope,
  RANGE_FULL,
} from './allocators.js';
import type { IpFamily } from './service-rules.js';

export const ALLOCATOR_NAME = 'ipallocator.k8s.io';
export const MANAGED_BY_LABEL = 'ipaddress.kubernetes.io/managed-by';
export const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family';
const SHORTEST_IPV6_PREFIX = 64;

/** The objects the allocator works on, as few operations as it needs. */
export interface AddressObjects {
  serviceCidrs(): Promise<readonly Readonly<ServiceCIDR>[]>;
  exists(name: string): Promise<boolean>;
  /** False when the name exists. */
  create(address: IPAddress): Promise<boolean>;
  /** False when there was none. */
  delete(name: string): Promise<boolean>;
}

export interface AddressAllocatorParts {
  readonly objects: AddressObjects;
  /** --service-cluster-ip-range, used until a ServiceCIDR object of the family exists. */
  readonly ranges: readonly Cidr[];
  /** A whole number in [0, below). */
  readonly random: (below: bigint) => bigint;
  readonly metrics?: AddressMetrics;
}

export const createAddressAllocator = (parts: AddressAllocatorParts): AddressAllocator => new ObjectAllocator(parts);

class ObjectAllocator implements AddressAllocator {
  constructor(private readonly parts: AddressAllocatorParts) {}

  async take(family: IpFamily, ip: string, service: Readonly<Service>, dryRun: boolean): Promise<void> {
    const address = parseIp(ip);
    if (address === undefined) throw new AllocationError(`failed to parse service IP ${ip}`);
    const cidrs = await this.#readyCidrs(family);
    const matching = cidrs.find((cidr) => isUsable(cidr, address));
    if (matching === undefined && !dryRun) {
      throw new AllocationError('the provided network does not match the current range');
    }
    const cidr = matching ?? cidrs[0];
    if (cidr === undefined) throw new AllocationError('allocator not ready');
    if (!isUsable(cidr, address)) throw notInRange(address, cidr);
    if (dryRun) return;
    const name = ipText(address);
    const allocated = await this.#counted(cidr, 'static', async () =>
      (await this.parts.objects.create(ipAddress(name, family, service))) ? name : undefined,
    );
    if (allocated === undefined) throw new AllocationError('provided IP is already allocated');
  }

  async takeNext(family: IpFamily, service: Readonly<Service>, dryRun: boolean): Promise<string> {
    for (const cidr of await this.#readyCidrs(family)) {
      if (dryRun) return formatIp(cidr.family, cidr.network);
      if (cidr.family === 6 && cidr.prefixLength < SHORTEST_IPV6_PREFIX) continue;
      const { first, last } = usable(cidr);
      // The low end is left for addresses that people choose, as long as the rest has room.
      const dynamic = first + reservedForChoice(cidr);
      const name = await this.#counted(
        cidr,
        'dynamic',
        async () =>
          (await this.#freeBetween({ first: dynamic, last }, family, service)) ??
          (await this.#freeBetween({ first, last: dynamic - 1n }, family, service)),
      );
      if (name !== undefined) return name;
    }
    throw new AllocationError(RANGE_FULL);
  }

  async release(ip: string): Promise<void> {
    const { objects, metrics } = this.parts;
    const address = parseIp(ip);
    if (address !== undefined && (await objects.delete(ipText(address)))) metrics?.released(address.family);
  }

  /** Blocks of the family that give out addresses: those of ready ServiceCIDRs, or of flags while no object exists. */
  async #readyCidrs(family: IpFamily): Promise<readonly Cidr[]> {
    const bits = family === 'IPv4' ? 4 : 6;
    const blocks: { readonly cidr: Cidr; readonly ready: boolean }[] = [];
    for (const object of await this.parts.objects.serviceCidrs()) {
      for (const text of object.spec.cidrs ?? []) {
        const cidr = parseCidr(text);
        if (cidr?.family === bits) blocks.push({ cidr, ready: isReady(object) });
      }
    }
    if (blocks.length > 0) return blocks.filter(({ ready }) => ready).map(({ cidr }) => cidr);
    return this.parts.ranges.filter((cidr) => cidr.family === bits);
  }

  async #freeBetween(span: Span, family: IpFamily, service: Readonly<Service>): Promise<string | undefined> {
    const { objects, random } = this.parts;
    const size = span.last - span.first + 1n;
    if (size <= 0n) return undefined;
    const start = random(size);
    for (let step = 0n; step < size; step++) {
      const name = formatIp(family === 'IPv4' ? 4 : 6, span.first + ((start + step) % size));
      if (await objects.exists(name)) continue;
      // Another server may allocate the address in between; then the next one is tried.
      if (await objects.create(ipAddress(name, family, service)).catch(refusedForAll)) return name;
    }
    return undefined;
  }

  /** Allocates an address of the block by what `create` answers, and counts that. */
  async #counted<T>(cidr: Cidr, scope: AllocationScope, create: () => Promise<T | undefined>): Promise<T | undefined> {
    const { metrics } = this.parts;
    if (metrics === undefined) return create();
    const startMs = metrics.nowMs();
    let made: T | undefined;
    try {
      made = await create();
      return made;
    } finally {
      if (made === undefined) metrics.failed(cidr, scope);
      else metrics.taken(cidr, scope, (metrics.nowMs() - startMs) / 1000);
    }
  }
}

/** No address is for a service that cannot have one, as for want of a name: the next one would be refused, too. */
function refusedForAll(error: unknown): never {
  throw error instanceof StatusError && error.reason === 'Invalid' ? new AllocationError(RANGE_FULL) : error;
}

/** A block no controller has looked at yet counts as ready: there may be no controller. */
function isReady({ metadata, status }: Readonly<ServiceCIDR>): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const condition = (status?.conditions ?? []).find(({ type }) => type === 'Ready');
  return condition === undefined || condition.status === 'True';
}

/** The object that marks an address as allocated to a service. */
export function ipAddress(name: string, family: IpFamily, service: Readonly<Service>): IPAddress {
  return {
    kind: 'IPAddress',
    apiVersion: 'networking.k8s.io/v1',
    metadata: {
      name,
      labels: { [FAMILY_LABEL]: family, [MANAGED_BY_LABEL]: ALLOCATOR_NAME },
    },
    spec: {
      parentRef: {
        resource: 'services',
        namespace: service.metadata.namespace ?? '',
        name: service.metadata.name ?? '',
      },
    },
  };
}
