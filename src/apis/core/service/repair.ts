// Brings the pools back in line with the services that are stored. A server can end between taking an address or a
// port and storing its service, or between deleting a service and giving back what it had; nothing but a look at all
// services finds out.
import { parseIp, ipText } from '../../../lib/ip-address.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import type { IPAddress } from '../../../schema/generated/networking.v1.js';
import { ALLOCATOR_NAME, ipAddress } from './address-allocator.js';
import { bitsOf, NODE_PORTS_KEY, type PortRange, type RangeStore, writeNodePorts } from './node-port-allocator.js';
import { familyOf, HEADLESS, needsClusterIp } from './service-rules.js';

/** A port no service has is given back when it was found so in this many rounds. */
const ROUNDS_BEFORE_RELEASE = 3;
/** A service may still be on its way to the store when its address is already taken. */
const ADDRESS_GRACE_MS = 60_000;
const MAX_ATTEMPTS = 10;

export interface NodePortRepairParts {
  readonly store: RangeStore;
  readonly range: PortRange;
  readonly services: () => Promise<readonly Readonly<Service>[]>;
  readonly log: (message: string) => void;
}

/** Answers one round of repair. What it has seen leaking is remembered from round to round. */
export function createNodePortRepair({ store, range, services, log }: NodePortRepairParts): () => Promise<void> {
  const leaking = new Map<number, number>();
  return async () => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await store.get(NODE_PORTS_KEY, '');
      const rebuilt = rebuild(bitsOf(stored, range), await services());
      if (await writeNodePorts(store, stored, range, rebuilt)) return;
    }
    throw new Error('the node ports changed too often to be repaired');
  };

  function rebuild(before: bigint, list: readonly Readonly<Service>[]): bigint {
    let bits = 0n;
    for (const service of list) {
      for (const port of portsOf(service)) {
        const where = `service ${service.metadata.name ?? ''}/${service.metadata.namespace ?? ''}`;
        if (port < range.base || port >= range.base + range.size) {
          log(`the port ${port} for ${where} is not within the port range; please recreate`);
          continue;
        }
        const bit = 1n << BigInt(port - range.base);
        if ((bits & bit) !== 0n)
          log(`the node port ${port} for ${where} was assigned to multiple services; please recreate`);
        else if ((before & bit) === 0n) log(`the node port ${port} for ${where} is not allocated; repairing`);
        bits |= bit;
        leaking.delete(port);
      }
    }
    for (const port of portsIn(before & ~bits, range)) {
      const rounds = leaking.get(port) ?? ROUNDS_BEFORE_RELEASE;
      if (rounds <= 0) {
        log(`the node port ${port} appears to have leaked: cleaning up`);
        leaking.delete(port);
        continue;
      }
      leaking.set(port, rounds - 1);
      bits |= 1n << BigInt(port - range.base);
    }
    return bits;
  }
}

export interface AddressRepairParts {
  readonly services: () => Promise<readonly Readonly<Service>[]>;
  readonly addresses: () => Promise<readonly Readonly<IPAddress>[]>;
  readonly create: (address: IPAddress) => Promise<boolean>;
  readonly delete: (name: string) => Promise<void>;
  readonly now: () => Date;
  readonly log: (message: string) => void;
}

/** One round: every address of a service has its object, and every object of this allocator has its service. */
export async function repairAddresses(parts: AddressRepairParts): Promise<void> {
  const owners = new Map<string, Readonly<Service>>();
  for (const service of await parts.services()) {
    for (const ip of addressesOf(service)) {
      if (owners.has(ip)) parts.log(`the cluster IP ${ip} is assigned to several services; please recreate one`);
      else owners.set(ip, service);
    }
  }
  for (const address of await parts.addresses()) {
    const name = address.metadata.name ?? '';
    const owner = owners.get(name);
    owners.delete(name);
    if (owner !== undefined && isOwnedBy(address, owner)) continue;
    if (owner === undefined && !isAbandoned(address, parts.now())) continue;
    await parts.delete(name);
    if (owner !== undefined) await parts.create(ipAddress(name, familyOf(name), owner));
    parts.log(`the IP address ${name} has no service or another one: repaired`);
  }
  for (const [ip, service] of owners) {
    await parts.create(ipAddress(ip, familyOf(ip), service));
    parts.log(`the cluster IP ${ip} of a service was not allocated: repaired`);
  }
}

function addressesOf(service: Readonly<Service>): string[] {
  if (!needsClusterIp(service) || service.spec.clusterIP === HEADLESS) return [];
  const { clusterIP, clusterIPs } = service.spec;
  const texts = (clusterIPs ?? []).length > 0 ? (clusterIPs ?? []) : clusterIP ? [clusterIP] : [];
  return texts.flatMap((text) => {
    const ip = parseIp(text);
    return ip === undefined ? [] : [ipText(ip)];
  });
}

const isOwnedBy = ({ spec }: Readonly<IPAddress>, { metadata }: Readonly<Service>): boolean =>
  !spec.parentRef?.group &&
  spec.parentRef?.resource === 'services' &&
  spec.parentRef.namespace === metadata.namespace &&
  spec.parentRef.name === metadata.name;

/** Addresses that people made by hand are theirs to remove. */
function isAbandoned({ metadata }: Readonly<IPAddress>, now: Date): boolean {
  if (metadata.labels?.['ipaddress.kubernetes.io/managed-by'] !== ALLOCATOR_NAME) return false;
  return now.getTime() - Date.parse(metadata.creationTimestamp ?? '') > ADDRESS_GRACE_MS;
}

/** Two ports of one service may share a node port under different protocols: it counts once. */
function portsOf({ spec }: Readonly<Service>): number[] {
  const seen = new Map<number, Set<string>>();
  const ports: number[] = [];
  const count = (port: number, protocol: string): void => {
    if (port === 0) return;
    const protocols = seen.get(port) ?? new Set();
    if (protocols.size === 0 || protocols.has(protocol)) ports.push(port);
    seen.set(port, protocols.add(protocol));
  };
  for (const { nodePort = 0, protocol = '' } of spec.ports ?? []) count(nodePort, protocol);
  count(spec.healthCheckNodePort ?? 0, 'TCP');
  return ports;
}

function portsIn(bits: bigint, { base, size }: PortRange): number[] {
  const ports: number[] = [];
  for (let offset = 0; offset < size; offset++) {
    if (((bits >> BigInt(offset)) & 1n) === 1n) ports.push(base + offset);
  }
  return ports;
}
