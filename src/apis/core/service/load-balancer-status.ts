import { append } from '../../../lib/values/append.js';
import { parseIp } from '../../../lib/values/ip-address.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../machinery/field-error.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { isValidIpForLegacyField } from '../../../machinery/validation/ip.js';
import { isDns1123Subdomain } from '../../../machinery/validation/names.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { LoadBalancerIngress, Service } from '../../../schema/generated/core.v1.js';

const MODES = ['Proxy', 'VIP'];

export function validateServiceStatus(
  object: Readonly<Service>,
  old: Readonly<Service>,
  features: FeatureGates,
): FieldErrors {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress');
  const ingress = object.status.loadBalancer.ingress ?? [];
  const anyType = features.enabled('AllowServiceLBStatusOnNonLB');
  if (!anyType && object.spec.type !== 'LoadBalancer' && ingress.length > 0) {
    return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const before = new Set((old.status.loadBalancer.ingress ?? []).map(({ ip }) => ip ?? ''));
  const strict = features.enabled('StrictIPCIDRValidation');
  const needsMode = features.enabled('LoadBalancerIPMode');
  return ingress.flatMap((point, position) =>
    validatePoint(point, path.index(position), { strict, old: before, needsMode }),
  );
}

function validatePoint(
  { ip, ipMode, hostname }: Readonly<LoadBalancerIngress>,
  path: FieldPath,
  options: { strict: boolean; old: ReadonlySet<string>; needsMode: boolean },
): FieldErrors {
  const errors: FieldErrors = [];
  if (ip) append(errors, isValidIpForLegacyField(path.child('ip'), ip, options));
  if (ipMode === undefined) {
    if (ip && options.needsMode) errors.push(required(path.child('ipMode'), 'must be specified when `ip` is set'));
  } else if (!ip) errors.push(forbidden(path.child('ipMode'), 'may not be specified when `ip` is not set'));
  else if (!MODES.includes(ipMode)) errors.push(notSupported(path.child('ipMode'), ipMode, MODES));
  if (hostname) append(errors, validateHostname(hostname, path.child('hostname')));
  return errors;
}

/** The DNS name of a load balancer's point, shared with ingresses. */
export function validateHostname(hostname: string, path: FieldPath): FieldErrors {
  const errors = invalidEach(path, hostname, isDns1123Subdomain(hostname));
  if (parseIp(hostname) !== undefined) {
    errors.push(invalid(path, hostname, 'must be a DNS name, not an IP address'));
  }
  return errors;
}
