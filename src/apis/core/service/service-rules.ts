// Small questions about a service that defaults, validation, allocation and table cells share.
import type { Service } from '../../../schema/generated/core.v1.js';

export const HEADLESS = 'None';

export type IpFamily = 'IPv4' | 'IPv6';

/** Every type but a name for something outside has addresses of its own. */
export const needsClusterIp = ({ spec }: Readonly<Service>): boolean => spec.type !== 'ExternalName';

export const isHeadless = ({ spec }: Readonly<Service>): boolean =>
  spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === HEADLESS;

export const isExternallyAccessible = ({ spec }: Readonly<Service>): boolean =>
  spec.type === 'LoadBalancer' ||
  spec.type === 'NodePort' ||
  (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);

/** A load balancer that keeps traffic on the node asks each node, at a port of its own, whether it has endpoints. */
export const needsHealthCheck = ({ spec }: Readonly<Service>): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

export const exposesNodePorts = ({ spec }: Readonly<Service>): boolean =>
  spec.type === 'NodePort' || spec.type === 'LoadBalancer';

/** Whether ports without a node port get one. */
export const allocatesNodePorts = ({ spec }: Readonly<Service>): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

export const nodePortsOf = ({ spec }: Readonly<Service>): number[] =>
  (spec.ports ?? []).map(({ nodePort }) => nodePort ?? 0).filter((port) => port !== 0);

export const sameList = (a: readonly string[] | undefined, b: readonly string[] | undefined): boolean =>
  (a ?? []).length === (b ?? []).length && (a ?? []).every((value, position) => value === b?.[position]);

export const familyOf = (ip: string): IpFamily => (ip.includes(':') ? 'IPv6' : 'IPv4');

export const otherFamily = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');
