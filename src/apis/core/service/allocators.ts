// Where services get their addresses and node ports. Allocations must be agreed between all servers on one store,
// so both pools live in the store: addresses as IPAddress objects or, as in older releases, in a shared bitmap, node ports
// in another.
import type { Cidr } from '../../../lib/values/ip-address.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import type { IpFamily } from './service-rules.js';

export interface ServiceAllocators {
  /** The families of --service-cluster-ip-range, the default first. */
  readonly families: readonly IpFamily[];
  readonly addresses: AddressAllocator;
  readonly nodePorts: NodePortAllocator;
  /** Logs what could not be released. The object's write stands all the same; repair finds it. */
  readonly leaked: (what: string, error: unknown) => void;
}

export interface AddressAllocator {
  /** Takes this address for the service. A dry run only looks whether it could. Fails with AllocationError. */
  take(family: IpFamily, ip: string, service: Readonly<Service>, dryRun: boolean): Promise<void>;
  /** Takes any free address; a dry run answers one that stands for it. */
  takeNext(family: IpFamily, service: Readonly<Service>, dryRun: boolean): Promise<string>;
  /** Releases an address; one that is not allocated is no error. */
  release(ip: string): Promise<void>;
}

export interface NodePortAllocator {
  take(port: number): Promise<void>;
  takeNext(): Promise<number>;
  isAllocated(port: number): Promise<boolean>;
  release(port: number): Promise<void>;
}

/** `static` when the client chose the value, `dynamic` when the server did. */
export type AllocationScope = 'static' | 'dynamic';

/** Receives the events of the pool of addresses for its metrics. */
export interface AddressMetrics {
  readonly nowMs: () => number;
  taken(cidr: Cidr, scope: AllocationScope, seconds: number): void;
  failed(cidr: Cidr, scope: AllocationScope): void;
  released(family: Cidr['family']): void;
}

/** Receives the events of the pool of node ports for its metrics. */
export interface NodePortMetrics {
  taken(scope: AllocationScope): void;
  failed(scope: AllocationScope): void;
}

/** Why a pool could not allocate. The text is sent to the client. */
export class AllocationError extends Error {}

export const RANGE_FULL = 'range is full';
