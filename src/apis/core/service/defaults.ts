import type { FeatureGates } from '../../../registry/kind.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { isExternallyAccessible } from './service-rules.js';

const CLIENT_IP_TIMEOUT_SECONDS = 3 * 60 * 60;

export function setServiceDefaults({ spec, status, ...rest }: Service): void {
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: CLIENT_IP_TIMEOUT_SECONDS } };
  }
  spec.type ||= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternallyAccessible({ ...rest, spec, status })) spec.externalTrafficPolicy ||= 'Cluster';
  if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
}

export function defaultIpMode({ spec, status }: Service, features: FeatureGates): void {
  if (spec.type !== 'LoadBalancer' || !features.enabled('LoadBalancerIPMode')) return;
  for (const ingress of status.loadBalancer.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
}
