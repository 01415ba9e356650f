// Brings the IPAddress objects back in line with the services that are stored. A server can end between taking an address
// and storing its service, or between deleting a service and giving back what it had; nothing but a look at all services
// finds out.
import type { Logger } from '../../../lib/telemetry/log.js';
import { parseIp, ipText } from '../../../lib/values/ip-address.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import type { IPAddress } from '../../../schema/generated/networking.v1.js';
import { ALLOCATOR_NAME, ipAddress, MANAGED_BY_LABEL } from './address-allocator.js';
import { familyOf, HEADLESS, needsClusterIp } from './service-rules.js';

/** A service may still be on its way to the store when its address is already allocated. */
const ADDRESS_GRACE_MS = 60_000;

export interface AddressRepairParts {
  readonly services: () => Promise<readonly Readonly<Service>[]>;
  readonly addresses: () => Promise<readonly Readonly<IPAddress>[]>;
  readonly create: (address: IPAddress) => Promise<boolean>;
  readonly delete: (name: string) => Promise<unknown>;
  readonly now: () => Date;
  readonly log: Logger;
}

/** One round: every address of a service has its object, and every object of this allocator has its service. */
export async function repairAddresses(parts: AddressRepairParts): Promise<void> {
  const owners = new Map<string, Readonly<Service>>();
  for (const service of await parts.services()) {
    for (const ip of addressesOf(service)) {
      if (owners.has(ip)) parts.log.info(`the cluster IP ${ip} is assigned to several services; please recreate one`);
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
    parts.log.info(`the IP address ${name} has no service or another one: repaired`);
  }
  for (const [ip, service] of owners) {
    await parts.create(ipAddress(ip, familyOf(ip), service));
    parts.log.info(`the cluster IP ${ip} of a service was not allocated: repaired`);
  }
}

export function addressesOf(service: Readonly<Service>): string[] {
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
  if (metadata.labels?.[MANAGED_BY_LABEL] !== ALLOCATOR_NAME) return false;
  return now.getTime() - Date.parse(metadata.creationTimestamp ?? '') > ADDRESS_GRACE_MS;
}
