import { append } from '../../../lib/values/append.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../machinery/field-error.js';
import { invalidEach, validatePort } from '../../../machinery/validation/fields.js';
import { isValidCidrForLegacyField, isValidIpForLegacyField } from '../../../machinery/validation/ip.js';
import { validateLabels } from '../../../machinery/validation/label-selector.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidPortName,
} from '../../../machinery/validation/names.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Service, ServicePort } from '../../../schema/generated/core.v1.js';
import { PROTOCOLS, validateEndpointIp } from '../shared/endpoint-ip.js';
import { validateClusterIps } from './cluster-ip-validation.js';
import { isHeadless } from './service-rules.js';
import { validateLoadBalancerClass, validateTrafficFields } from './traffic-validation.js';

const SPEC = FieldPath.of('spec');
const PORTS = SPEC.child('ports');
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const AFFINITIES = ['ClientIP', 'None'];
const DAY_SECONDS = 24 * 60 * 60;

/** The rules that hold at all times. `old` is there on an update, when what was accepted before stays accepted. */
export function validateService(
  object: Readonly<Service>,
  old: Readonly<Service> | undefined,
  features: FeatureGates,
): FieldErrors {
  const strict = features.enabled('StrictIPCIDRValidation');
  return [
    ...validateTopologyAnnotations(object),
    ...validateForType(object),
    ...validatePorts(object),
    ...validateLabels(object.spec.selector, SPEC.child('selector')),
    ...validateSessionAffinity(object),
    ...validateClusterIps(object, old, strict),
    ...validateExternalIps(object, old, strict),
    ...validateType(object),
    ...validateNodePorts(object),
    ...validateSourceRanges(object, old, strict),
    ...validateNodePortAllocation(object),
    ...validateLoadBalancerClass(object),
    ...validateTrafficFields(object, features),
  ];
}

function validateTopologyAnnotations({ metadata }: Readonly<Service>): FieldErrors {
  const hints = metadata.annotations?.[TOPOLOGY_HINTS];
  const mode = metadata.annotations?.[TOPOLOGY_MODE];
  if (hints === undefined || mode === undefined || hints === mode) return [];
  const path = FieldPath.of('metadata', 'annotations').key(TOPOLOGY_MODE);
  return [invalid(path, mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`)];
}

function validateForType(object: Readonly<Service>): FieldErrors {
  const { spec } = object;
  const errors: FieldErrors = [];
  if ((spec.ports ?? []).length === 0 && !isHeadless(object) && spec.type !== 'ExternalName') {
    errors.push(required(PORTS));
  }
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(object)) {
    const why = `may not be set to 'None' for ${spec.type} services`;
    errors.push(invalid(SPEC.child('clusterIPs').index(0), spec.clusterIPs?.[0], why));
  }
  if (spec.type === 'ExternalName') append(errors, validateExternalName(object));
  return errors;
}

function validateExternalName({ spec }: Readonly<Service>): FieldErrors {
  const errors: FieldErrors = [];
  const unset = 'may not be set for ExternalName services';
  if ((spec.clusterIPs ?? []).length > 0) errors.push(forbidden(SPEC.child('clusterIPs'), unset));
  if ((spec.ipFamilies ?? []).length > 0) errors.push(forbidden(SPEC.child('ipFamilies'), unset));
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden(SPEC.child('ipFamilyPolicy'), unset));
  // A closing dot marks the name as complete.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  const path = SPEC.child('externalName');
  if (name === '') errors.push(required(path));
  else append(errors, invalidEach(path, name, isDns1123Subdomain(name)));
  return errors;
}

function validatePorts({ spec }: Readonly<Service>): FieldErrors {
  const ports = spec.ports ?? [];
  const names = new Set<string>();
  return ports.flatMap((port, position) => validateServicePort(port, ports.length > 1, names, PORTS.index(position)));
}

function validateServicePort(
  port: Readonly<ServicePort>,
  requireName: boolean,
  names: Set<string>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (port.name) {
    append(errors, invalidEach(path.child('name'), port.name, isDns1123Label(port.name)));
    if (names.has(port.name)) errors.push(duplicate(path.child('name'), port.name));
    names.add(port.name);
  } else if (requireName) errors.push(required(path.child('name')));
  append(errors, validatePort(port.port, path.child('port')));
  if (!port.protocol) errors.push(required(path.child('protocol')));
  else if (!PROTOCOLS.includes(port.protocol)) {
    errors.push(notSupported(path.child('protocol'), port.protocol, PROTOCOLS));
  }
  const target = port.targetPort;
  if (typeof target === 'number') append(errors, validatePort(target, path.child('targetPort')));
  else append(errors, invalidEach(path.child('targetPort'), target, isValidPortName(target)));
  if (port.appProtocol !== undefined) {
    append(errors, invalidEach(path.child('appProtocol'), port.appProtocol, isQualifiedName(port.appProtocol)));
  }
  return errors;
}

function validateSessionAffinity({ spec }: Readonly<Service>): FieldErrors {
  const errors: FieldErrors = [];
  const affinity = spec.sessionAffinity ?? '';
  const path = SPEC.child('sessionAffinityConfig');
  if (affinity === '') errors.push(required(SPEC.child('sessionAffinity')));
  else if (!AFFINITIES.includes(affinity)) {
    errors.push(notSupported(SPEC.child('sessionAffinity'), affinity, AFFINITIES));
  }
  if (affinity === 'ClientIP') {
    const timeout = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
    const at = path.child('clientIP');
    if (spec.sessionAffinityConfig === undefined) {
      errors.push(required(path, 'when session affinity type is ClientIP'));
    } else if (spec.sessionAffinityConfig.clientIP === undefined) {
      errors.push(required(at, 'when session affinity type is ClientIP'));
    } else if (timeout === undefined) {
      errors.push(required(at.child('timeoutSeconds'), 'when session affinity type is ClientIP'));
    } else if (timeout <= 0 || timeout > DAY_SECONDS) {
      const why = `must be greater than 0 and less than ${DAY_SECONDS}`;
      errors.push(invalid(at.child('timeoutSeconds'), timeout, why));
    }
  } else if (affinity === 'None' && spec.sessionAffinityConfig !== undefined) {
    errors.push(forbidden(path, 'must not be set when session affinity is None'));
  }
  return errors;
}

function validateExternalIps(
  { spec }: Readonly<Service>,
  old: Readonly<Service> | undefined,
  strict: boolean,
): FieldErrors {
  const before = new Set(old?.spec.externalIPs);
  return (spec.externalIPs ?? []).flatMap((ip, position) => {
    const path = SPEC.child('externalIPs').index(position);
    const errors = isValidIpForLegacyField(path, ip, { strict, old: before });
    return errors.length > 0 ? errors : validateEndpointIp(ip, path);
  });
}

function validateType({ spec }: Readonly<Service>): FieldErrors {
  if (!spec.type) return [required(SPEC.child('type'))];
  return TYPES.includes(spec.type) ? [] : [notSupported(SPEC.child('type'), spec.type, TYPES)];
}

function validateNodePorts({ spec }: Readonly<Service>): FieldErrors {
  const ports = spec.ports ?? [];
  const errors: FieldErrors = [];
  for (const [position, { nodePort }] of ports.entries()) {
    if (spec.type === 'ClusterIP' && nodePort) {
      errors.push(forbidden(PORTS.index(position).child('nodePort'), "may not be used when `type` is 'ClusterIP'"));
    }
  }
  const seenNodePorts = new Set<string>();
  for (const [position, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue;
    const key = `${protocol}:${nodePort}`;
    if (seenNodePorts.has(key)) errors.push(duplicate(PORTS.index(position).child('nodePort'), nodePort));
    seenNodePorts.add(key);
  }
  const seenPorts = new Set<string>();
  for (const [position, { port, protocol }] of ports.entries()) {
    const key = `${protocol}:${port}`;
    if (seenPorts.has(key)) errors.push(duplicate(PORTS.index(position), duplicatedPort(port, protocol ?? '')));
    seenPorts.add(key);
  }
  return errors;
}

/** The duplicate pair, in the shape kube-apiserver shows it. */
const duplicatedPort = (port: number, protocol: string) => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
});

/** Ranges may be padded with spaces: they were once written in an annotation. */
function validateSourceRanges(
  { metadata, spec }: Readonly<Service>,
  old: Readonly<Service> | undefined,
  strict: boolean,
): FieldErrors {
  const errors: FieldErrors = [];
  const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const path = SPEC.child('LoadBalancerSourceRanges');
    if (spec.type !== 'LoadBalancer') errors.push(forbidden(path, onlyLoadBalancer));
    const before = new Set((old?.spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()));
    for (const [position, range] of ranges.entries()) {
      append(errors, isValidCidrForLegacyField(path.index(position), range.trim(), { strict, old: before }));
    }
    return errors;
  }
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  if (annotation === undefined) return errors;
  const path = FieldPath.of('metadata', 'annotations').key(SOURCE_RANGES);
  if (spec.type !== 'LoadBalancer') errors.push(forbidden(path, onlyLoadBalancer));
  if (old?.metadata.annotations?.[SOURCE_RANGES] === annotation || annotation.trim() === '') return errors;
  for (const range of annotation.trim().split(',')) {
    append(errors, isValidCidrForLegacyField(path, range.trim(), { strict }));
  }
  return errors;
}

function validateNodePortAllocation({ spec }: Readonly<Service>): FieldErrors {
  const set = spec.allocateLoadBalancerNodePorts !== undefined;
  if (set && spec.type !== 'LoadBalancer') {
    return [forbidden(SPEC.child('allocateLoadBalancerNodePorts'), "may only be used when `type` is 'LoadBalancer'")];
  }
  return !set && spec.type === 'LoadBalancer' ? [required(FieldPath.of('allocateLoadBalancerNodePorts'))] : [];
}
