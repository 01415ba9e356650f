import { append } from '../../../lib/values/append.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { warningsForCidr, warningsForIp } from '../../../machinery/validation/ip.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { HEADLESS } from './service-rules.js';

const SPEC = FieldPath.of('spec');
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';

export function serviceWarnings({ metadata, spec }: Readonly<Service>): string[] {
  const warnings: string[] = [];
  if (metadata.annotations?.[TOPOLOGY_HINTS] !== undefined) {
    warnings.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`);
  }
  if (spec.clusterIP && spec.clusterIP !== HEADLESS) {
    for (const [position, ip] of (spec.clusterIPs ?? []).entries()) {
      append(warnings, warningsForIp(SPEC.child('clusterIPs').index(position), ip));
    }
  }
  if (spec.type === 'ClusterIP' && spec.clusterIP === HEADLESS) append(warnings, headlessWarnings(spec));
  for (const [position, ip] of (spec.externalIPs ?? []).entries()) {
    append(warnings, warningsForIp(SPEC.child('externalIPs').index(position), ip));
  }
  if (spec.loadBalancerIP) append(warnings, warningsForIp(SPEC.child('loadBalancerIP'), spec.loadBalancerIP));
  for (const [position, cidr] of (spec.loadBalancerSourceRanges ?? []).entries()) {
    append(warnings, warningsForCidr(SPEC.child('loadBalancerSourceRanges').index(position), cidr));
  }
  if (spec.type === 'ExternalName' && (spec.externalIPs ?? []).length > 0) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (spec.type !== 'ExternalName' && spec.externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  return warnings;
}

export function serviceStatusWarnings({ status }: Readonly<Service>): string[] {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress');
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip }, position) =>
    ip ? warningsForIp(path.index(position), ip) : [],
  );
}

function headlessWarnings(spec: Readonly<Service['spec']>): string[] {
  const warnings: string[] = [];
  if (spec.loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services');
  if ((spec.externalIPs ?? []).length > 0) warnings.push('spec.externalIPs is ignored for headless services');
  if (spec.sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services');
  return warnings;
}
