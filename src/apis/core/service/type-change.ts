import type { Service } from '../../../schema/generated/core.v1.js';
import {
  exposesNodePorts,
  isExternallyAccessible,
  needsClusterIp,
  needsHealthCheck,
  nodePortsOf,
  sameList,
} from './service-rules.js';

/**
 * Clears the fields a service of another type had and the new type has no use for. A field goes only when the server
 * may have filled it in and the client left it as it was; one the client also changed is left for validation.
 */
export function dropTypeDependentFields(object: Service, old: Readonly<Service>): void {
  const { spec } = object;
  if (needsClusterIp(old) && !needsClusterIp(object)) dropAddresses(object, old);
  if (exposesNodePorts(old) && !exposesNodePorts(object) && addsNoNodePort(object, old)) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  const samePort = (spec.healthCheckNodePort ?? 0) === (old.spec.healthCheckNodePort ?? 0);
  if (needsHealthCheck(old) && !needsHealthCheck(object) && samePort) delete spec.healthCheckNodePort;

  if (old.spec.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === old.spec.allocateLoadBalancerNodePorts) {
      delete spec.allocateLoadBalancerNodePorts;
    }
    if (spec.loadBalancerClass === old.spec.loadBalancerClass) delete spec.loadBalancerClass;
  }
  const samePolicy = (spec.externalTrafficPolicy ?? '') === (old.spec.externalTrafficPolicy ?? '');
  if (isExternallyAccessible(old) && !isExternallyAccessible(object) && samePolicy) delete spec.externalTrafficPolicy;

  if (spec.type !== 'LoadBalancer') object.status = { ...object.status, loadBalancer: {} };
}

function dropAddresses({ spec }: Service, old: Readonly<Service>): void {
  if ((spec.clusterIP ?? '') === (old.spec.clusterIP ?? '') && sameList(spec.clusterIPs, old.spec.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameList(spec.ipFamilies, old.spec.ipFamilies)) delete spec.ipFamilies;
  if (spec.ipFamilyPolicy === old.spec.ipFamilyPolicy) delete spec.ipFamilyPolicy;
}

function addsNoNodePort(object: Readonly<Service>, old: Readonly<Service>): boolean {
  const before = new Set(nodePortsOf(old));
  return nodePortsOf(object).every((port) => before.has(port));
}
