// clusterIP and clusterIPs say the same thing twice, for older and newer clients; what the server filled in before is
// kept when a client leaves it out.
import type { Service } from '../../../schema/generated/core.v1.js';
import {
  allocatesNodePorts,
  familyOf,
  HEADLESS,
  type IpFamily,
  needsClusterIp,
  needsHealthCheck,
  nodePortsOf,
  otherFamily,
  sameList,
} from './service-rules.js';

export function linkClusterIps({ spec }: Service, old?: Readonly<Service>): void {
  const ips = spec.clusterIPs ?? [];
  if (old === undefined) {
    if (spec.clusterIP && ips.length === 0) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  const before = old.spec.clusterIPs ?? [];
  const same = (spec.clusterIP ?? '') === (old.spec.clusterIP ?? '');
  if (before.length > 0 && ips.length === 0 && same) spec.clusterIPs = [...before];
  if (same || !sameList(spec.clusterIPs, before)) return;
  // Only the singular was changed: an older client, and the plural follows it.
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}

/** Sending again the same manifest that was created must not lose what the server added to it. */
export function keepAllocatedValues(object: Service, old: Readonly<Service>): void {
  const { spec } = object;
  if (needsClusterIp(old) && needsClusterIp(object)) {
    if (!spec.clusterIP && old.spec.clusterIP) spec.clusterIP = old.spec.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && old.spec.clusterIPs) spec.clusterIPs = [...old.spec.clusterIPs];
  }
  if (allocatesNodePorts(old) && allocatesNodePorts(object)) keepNodePorts(object, old);
  if (needsHealthCheck(old) && needsHealthCheck(object) && !spec.healthCheckNodePort && old.spec.healthCheckNodePort) {
    spec.healthCheckNodePort = old.spec.healthCheckNodePort;
  }
}

/** By the port's name, unless that node port is already requested elsewhere. */
function keepNodePorts(object: Service, old: Readonly<Service>): void {
  const now = new Set(nodePortsOf(object));
  const used = new Set(nodePortsOf(old).filter((port) => now.has(port)));
  const byName = new Map((old.spec.ports ?? []).map(({ name, nodePort }) => [name ?? '', nodePort ?? 0]));
  for (const port of object.spec.ports ?? []) {
    const before = byName.get(port.name ?? '') ?? 0;
    if (!port.nodePort && before !== 0 && !used.has(before)) port.nodePort = before;
  }
}

/** A stored service with the fields that objects written before dual stack lack. */
export function completeStored(stored: Readonly<Service>, primary: IpFamily): Readonly<Service> {
  const complete = (stored.spec.ipFamilies ?? []).length > 0 || !needsClusterIp(stored);
  if (complete && (stored.spec.clusterIPs ?? []).length > 0) return stored;
  const object: Service = { ...stored, spec: { ...stored.spec } };
  linkClusterIps(object);
  if (complete) return object;
  const { spec } = object;
  const ips = spec.clusterIPs ?? [];
  if (spec.clusterIP !== HEADLESS) {
    spec.ipFamilies = ips.map(familyOf);
    spec.ipFamilyPolicy = ips.length === 2 ? 'RequireDualStack' : 'SingleStack';
  } else if (Object.keys(spec.selector ?? {}).length === 0) {
    spec.ipFamilies = [primary, otherFamily(primary)];
    spec.ipFamilyPolicy = 'RequireDualStack';
  } else {
    spec.ipFamilies = [primary];
    spec.ipFamilyPolicy = 'SingleStack';
  }
  return object;
}
