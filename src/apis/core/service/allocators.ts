// Where services get their addresses and node ports. What is taken must be agreed between all servers on one store,
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
  /** Told of what could not be given back. The object's write stands all the same; repair will find it. */
  readonly leaked: (what: string, error: unknown) => void;
}

export interface AddressAllocator {
  /** Takes this address for the service. A dry run only looks whether it could. Fails with AllocationError. */
  take(family: IpFamily, ip: string, service: Readonly<Service>, dryRun: boolean): Promise<void>;
  /** Takes any free address; a dry run answers one that stands for it. */
  takeNext(family: IpFamily, service: Readonly<Service>, dryRun: boolean): Promise<string>;
  /** Gives an address back; one that is not taken is no error. */
  release(ip: string): Promise<void>;
}

export interface NodePortAllocator {
  take(port: number): Promise<void>;
  takeNext(): Promise<number>;
  isTaken(port: number): Promise<boolean>;
  release(port: number): Promise<void>;
}

/** Whether what was taken was asked for by its name. */
export type AllocationScope = 'static' | 'dynamic';

/** What the pool of addresses tells whoever counts. */
export interface AddressMetrics {
  readonly nowMs: () => number;
  taken(cidr: Cidr, scope: AllocationScope, seconds: number): void;
  failed(cidr: Cidr, scope: AllocationScope): void;
  released(family: Cidr['family']): void;
}

/** What the pool of node ports tells whoever counts. */
export interface NodePortMetrics {
  taken(scope: AllocationScope): void;
  failed(scope: AllocationScope): void;
}

/** Why a pool could not give what was asked. The text is told to the client. */
export class AllocationError extends Error {}

export const RANGE_FULL = 'range is full';
