// How traffic is balanced and kept near: load balancer class, traffic policies, distribution.
import { append } from '../../../lib/values/append.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  plainNotSupported,
  named,
} from '../../../machinery/field-error.js';
import { invalidEach, validatePort } from '../../../machinery/validation/fields.js';
import { isQualifiedName } from '../../../machinery/validation/names.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { isExternallyAccessible, needsHealthCheck } from './service-rules.js';

const SPEC = FieldPath.of('spec');
const POLICIES = ['Cluster', 'Local'];

export const validateTrafficFields = (object: Readonly<Service>, features: FeatureGates): FieldErrors => [
  ...validateExternalTrafficPolicy(object),
  ...validateHealthCheckNodePort(object),
  ...validateInternalTrafficPolicy(object),
  ...validateTrafficDistribution(object, features),
];

export function validateLoadBalancerClass({ spec }: Readonly<Service>, old?: Readonly<Service>): FieldErrors {
  const path = SPEC.child('loadBalancerClass');
  const value = spec.loadBalancerClass;
  const errors: FieldErrors = [];
  const stays = old?.spec.type === 'LoadBalancer' && spec.type === 'LoadBalancer';
  if (stays && old?.spec.loadBalancerClass !== value)
    errors.push(invalid(path, named(value), 'may not change once set'));
  if (value === undefined) return errors;
  if (spec.type === 'LoadBalancer') append(errors, invalidEach(path, value, isQualifiedName(value)));
  else errors.push(forbidden(path, "may only be used when `type` is 'LoadBalancer'"));
  return errors;
}

export function validateHealthCheckNodePortUpdate(object: Readonly<Service>, old: Readonly<Service>): FieldErrors {
  if (!needsHealthCheck(old) || !needsHealthCheck(object)) return [];
  if ((object.spec.healthCheckNodePort ?? 0) === (old.spec.healthCheckNodePort ?? 0)) return [];
  return [forbidden(SPEC.child('healthCheckNodePort'), 'field is immutable')];
}

function validateExternalTrafficPolicy(object: Readonly<Service>): FieldErrors {
  const path = SPEC.child('externalTrafficPolicy');
  const policy = object.spec.externalTrafficPolicy ?? '';
  if (!isExternallyAccessible(object)) {
    return policy === '' ? [] : [invalid(path, named(policy), 'may only be set for externally-accessible services')];
  }
  if (policy === '') return [required(path)];
  return POLICIES.includes(policy) ? [] : [notSupported(path, policy, POLICIES)];
}

function validateHealthCheckNodePort(object: Readonly<Service>): FieldErrors {
  const path = SPEC.child('healthCheckNodePort');
  const port = object.spec.healthCheckNodePort ?? 0;
  if (needsHealthCheck(object)) return port === 0 ? [required(path)] : validatePort(port, path);
  if (port === 0) return [];
  const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [invalid(path, port, why)];
}

function validateInternalTrafficPolicy({ spec }: Readonly<Service>): FieldErrors {
  const path = SPEC.child('internalTrafficPolicy');
  const policy = spec.internalTrafficPolicy;
  if (policy !== undefined) return POLICIES.includes(policy) ? [] : [notSupported(path, policy, POLICIES)];
  return ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(spec.type ?? '') ? [required(path)] : [];
}

function validateTrafficDistribution({ spec }: Readonly<Service>, features: FeatureGates): FieldErrors {
  const value = spec.trafficDistribution;
  if (value === undefined) return [];
  const supported = ['PreferClose'];
  if (features.enabled('PreferSameTrafficDistribution')) supported.push('PreferSameZone', 'PreferSameNode');
  return supported.includes(value) ? [] : [plainNotSupported(SPEC.child('trafficDistribution'), value, supported)];
}
