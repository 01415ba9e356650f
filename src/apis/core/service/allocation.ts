// What a write of a service allocates from the pools and releases. It runs before validation, which then sees the
// finished object; what was allocated is released when the write fails.
import { FieldPath, invalid } from '../../../machinery/field-error.js';
import { internalError, invalid as invalidObject, StatusError } from '../../../machinery/status.js';
import type { LifeContext, Transaction } from '../../../registry/kind.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { AllocationError, type ServiceAllocators } from './allocators.js';
import { isUnchangedPreference, settleIpFamilies } from './ip-families.js';
import { completeStored, keepAllocatedValues, linkClusterIps } from './linked-fields.js';
import { NodePortOperation } from './node-port-operation.js';
import {
  allocatesNodePorts,
  exposesNodePorts,
  type IpFamily,
  isHeadless,
  needsClusterIp,
  needsHealthCheck,
  nodePortsOf,
} from './service-rules.js';

const SPEC = FieldPath.of('spec');

export async function allocateForCreate(
  object: Service,
  allocators: ServiceAllocators,
  context: LifeContext,
): Promise<Transaction> {
  linkClusterIps(object);
  settleIpFamilies(object, undefined, familyRules(allocators, context));
  const work = new Allocation(allocators, context.dryRun);
  return work.run(async () => {
    if (needsClusterIp(object) && !isHeadless(object)) await work.takeClusterIps(object, 0);
    if (exposesNodePorts(object)) await takeNodePorts(object, work.ports);
    if (needsHealthCheck(object)) await takeHealthCheckPort(object, work.ports);
  });
}

export async function allocateForUpdate(
  object: Service,
  stored: Readonly<Service>,
  allocators: ServiceAllocators,
  context: LifeContext,
): Promise<Transaction> {
  const old = completeStored(stored, allocators.families[0] ?? 'IPv4');
  keepAllocatedValues(object, old);
  linkClusterIps(object, old);
  settleIpFamilies(object, old, familyRules(allocators, context));
  const work = new Allocation(allocators, context.dryRun);
  return work.run(async () => {
    await updateClusterIps(object, old, work);
    if (exposesNodePorts(old) && (object.spec.type === 'ExternalName' || object.spec.type === 'ClusterIP')) {
      for (const port of nodePortsOf(old)) work.ports.releaseOnCommit(port);
    }
    if (exposesNodePorts(object)) await updateNodePorts(object, old, work.ports);
    if (!needsHealthCheck(old) && needsHealthCheck(object)) await takeHealthCheckPort(object, work.ports);
    if (needsHealthCheck(old) && !needsHealthCheck(object)) {
      work.ports.releaseOnCommit(old.spec.healthCheckNodePort ?? 0);
    }
  });
}

/** Gives back all a deleted service had. */
export async function releaseAll(stored: Readonly<Service>, allocators: ServiceAllocators): Promise<void> {
  const object = completeStored(stored, allocators.families[0] ?? 'IPv4');
  if (needsClusterIp(object) && !isHeadless(object)) await releaseAddresses(object.spec.clusterIPs ?? [], allocators);
  const ports = nodePortsOf(object);
  if (needsHealthCheck(object)) ports.push(object.spec.healthCheckNodePort ?? 0);
  await releasePorts(ports, allocators);
}

async function releaseAddresses(ips: readonly string[], { addresses, leaked }: ServiceAllocators): Promise<void> {
  for (const ip of ips) await addresses.release(ip).catch((error: unknown) => leaked(`cluster IP ${ip}`, error));
}

async function releasePorts(ports: readonly number[], { nodePorts, leaked }: ServiceAllocators): Promise<void> {
  for (const port of ports) {
    await nodePorts.release(port).catch((error: unknown) => leaked(`node port ${port}`, error));
  }
}

class Allocation implements Transaction {
  readonly ports: NodePortOperation;
  private readonly allocated: string[] = [];
  private readonly releases: string[] = [];

  constructor(
    private readonly allocators: ServiceAllocators,
    private readonly dryRun: boolean,
  ) {
    this.ports = new NodePortOperation(allocators.nodePorts, dryRun);
  }

  async run(work: () => Promise<void>): Promise<Transaction> {
    try {
      await work();
      return this;
    } catch (error) {
      await this.revert();
      throw error;
    }
  }

  /** Fills the addresses from a position on, one for each family. */
  async takeClusterIps(object: Service, from: number): Promise<void> {
    const { spec } = object;
    const ips = [...(spec.clusterIPs ?? [])];
    for (const [position, family] of (spec.ipFamilies ?? []).entries()) {
      if (position < from) continue;
      ips[position] = await this.takeAddress(object, family as IpFamily, ips[position] ?? '');
    }
    spec.clusterIPs = ips;
    if (ips[0]) spec.clusterIP = ips[0];
  }

  releaseOnCommit(ip: string): void {
    this.releases.push(ip);
  }

  async commit(): Promise<void> {
    if (this.dryRun) return;
    await releaseAddresses(this.releases, this.allocators);
    await releasePorts(this.ports.releases, this.allocators);
  }

  async revert(): Promise<void> {
    if (this.dryRun) return;
    await releaseAddresses(this.allocated, this.allocators);
    await releasePorts([...this.ports.allocated], this.allocators);
  }

  private async takeAddress(object: Readonly<Service>, family: IpFamily, wanted: string): Promise<string> {
    const { addresses } = this.allocators;
    try {
      if (wanted === '') {
        const ip = await addresses.takeNext(family, object, this.dryRun);
        this.allocated.push(ip);
        return ip;
      }
      await addresses.take(family, wanted, object, this.dryRun);
      this.allocated.push(wanted);
      return wanted;
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      if (wanted === '') throw internalError(`failed to allocate a serviceIP: ${error.message}`);
      const why = `failed to allocate IP ${wanted}: ${error.message}`;
      throw refused(object, SPEC.child('clusterIPs'), object.spec.clusterIPs, why);
    }
  }
}

async function updateClusterIps(object: Service, old: Readonly<Service>, work: Allocation): Promise<void> {
  if (isUnchangedPreference(object, old)) return;
  if (!needsClusterIp(old)) {
    if (needsClusterIp(object) && !isHeadless(object)) await work.takeClusterIps(object, 0);
    return;
  }
  if (isHeadless(old)) return;
  const before = old.spec.ipFamilies?.length ?? 0;
  if (!needsClusterIp(object)) {
    for (const ip of (old.spec.clusterIPs ?? []).slice(0, before)) work.releaseOnCommit(ip);
    return;
  }
  const now = object.spec.ipFamilies?.length ?? 0;
  if (before === 1 && now === 2) await work.takeClusterIps(object, 1);
  const second = old.spec.clusterIPs?.[1];
  if (before === 2 && now === 1 && second !== undefined) work.releaseOnCommit(second);
}

/** Ports that listen on one number under several protocols share a node port. */
async function takeNodePorts(object: Service, ports: NodePortOperation): Promise<void> {
  const chosen = new Map<number, number>();
  const requestedPorts = new Map<number, number>();
  for (const { port, nodePort } of object.spec.ports ?? []) {
    if (nodePort && !requestedPorts.has(port)) requestedPorts.set(port, nodePort);
  }
  for (const [position, port] of (object.spec.ports ?? []).entries()) {
    const path = SPEC.child('ports').index(position).child('nodePort');
    const wanted = port.nodePort ?? 0;
    if (wanted === 0 && !allocatesNodePorts(object)) continue;
    const shared = chosen.get(port.port) ?? 0;
    if (shared === 0) {
      const requested = requestedPorts.get(port.port);
      if (requested !== undefined) await takePort(object, requested, path, ports);
      port.nodePort = requested ?? (await takeNextPort(ports));
      chosen.set(port.port, port.nodePort);
    } else if (wanted === 0) port.nodePort = shared;
    else if (wanted !== shared) await takePort(object, wanted, path, ports);
  }
}

async function updateNodePorts(object: Service, old: Readonly<Service>, ports: NodePortOperation): Promise<void> {
  const before = new Set(nodePortsOf(old));
  const allocated = new Set<number>();
  const seen = new Set<string>();
  for (const [position, port] of (object.spec.ports ?? []).entries()) {
    const wanted = port.nodePort ?? 0;
    if (wanted === 0 && !allocatesNodePorts(object)) continue;
    if (wanted === 0) port.nodePort = await takeNextPort(ports);
    else if (!before.has(wanted) && !allocated.has(wanted)) {
      await takePort(object, wanted, SPEC.child('ports').index(position).child('nodePort'), ports);
      allocated.add(wanted);
    }
    const pair = `{${port.protocol ?? ''} ${port.nodePort}}`;
    if (seen.has(pair)) throw new StatusError(500, '', `duplicate nodePort: ${pair}`);
    seen.add(pair);
  }
  const now = new Set(nodePortsOf(object));
  for (const port of nodePortsOf(old)) if (!now.has(port)) ports.releaseOnCommit(port);
}

async function takeHealthCheckPort({ spec }: Service, ports: NodePortOperation): Promise<void> {
  const wanted = spec.healthCheckNodePort ?? 0;
  try {
    if (wanted === 0) spec.healthCheckNodePort = await ports.takeNext();
    else await ports.take(wanted);
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    const what = wanted === 0 ? 'a HealthCheck NodePort 0' : `requested HealthCheck NodePort ${wanted}`;
    throw internalError(`failed to allocate ${what}: ${error.message}`);
  }
}

async function takePort(
  object: Readonly<Service>,
  port: number,
  path: FieldPath,
  ports: NodePortOperation,
): Promise<void> {
  try {
    await ports.take(port);
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    throw refused(object, path, port, error.message);
  }
}

async function takeNextPort(ports: NodePortOperation): Promise<number> {
  try {
    return await ports.takeNext();
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    throw internalError(`failed to allocate a nodePort: ${error.message}`);
  }
}

const refused = (object: Readonly<Service>, path: FieldPath, value: unknown, why: string): StatusError =>
  invalidObject({ group: '', kind: 'Service' }, object.metadata.name ?? '', [invalid(path, value, why)]);

const familyRules = ({ families }: ServiceAllocators, { features }: LifeContext) => ({
  families,
  strict: features.enabled('StrictIPCIDRValidation'),
});
