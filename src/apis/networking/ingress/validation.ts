import { append } from '../../../lib/values/append.js';
import { parseIp } from '../../../lib/values/ip-address.js';
import { type FieldErrors, FieldPath, invalid, notSupported, required } from '../../../machinery/field-error.js';
import { asGiven } from '../../../machinery/explicit-empty.js';
import { invalidEach, validatePort } from '../../../machinery/validation/fields.js';
import { isValidIpForLegacyField } from '../../../machinery/validation/ip.js';
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isValidPortName,
  isWildcardDns1123Subdomain,
} from '../../../machinery/validation/names.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressTLS,
} from '../../../schema/generated/networking.v1.js';
import { validateHostname } from '../../core/service/load-balancer-status.js';
import { validateTypedReference } from '../typed-reference.js';

export const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const SPEC = FieldPath.of('spec');

/** What stored ingresses may have that new ones may not. */
interface IngressOptions {
  readonly anySecretName: boolean;
  readonly anyWildcardRule: boolean;
  readonly relaxedServiceNames: boolean;
}

export function validateIngress(object: Readonly<Ingress>, features: FeatureGates): FieldErrors {
  const relaxedServiceNames = features.enabled('RelaxedServiceNameValidation');
  const errors = validateSpec(object, { anySecretName: false, anyWildcardRule: false, relaxedServiceNames });
  const annotation = object.metadata.annotations?.[CLASS_ANNOTATION];
  const name = object.spec.ingressClassName;
  if (annotation !== undefined && name !== undefined && annotation !== name) {
    const why = 'must match `ingressClassName` when both are specified';
    errors.push(invalid(FieldPath.of('annotations', CLASS_ANNOTATION), annotation, why));
  }
  return errors;
}

export function validateIngressUpdate(
  object: Readonly<Ingress>,
  old: Readonly<Ingress>,
  features: FeatureGates,
): FieldErrors {
  const strict: IngressOptions = { anySecretName: false, anyWildcardRule: false, relaxedServiceNames: false };
  const rules = old.spec.rules ?? [];
  return validateSpec(object, {
    anySecretName: (old.spec.tls ?? []).some(
      ({ secretName }) => secretName && isDns1123Subdomain(secretName).length > 0,
    ),
    anyWildcardRule: rules.some((rule) => rule.host?.includes('*') && validateRuleValue(rule, SPEC, strict).length > 0),
    relaxedServiceNames: features.enabled('RelaxedServiceNameValidation') || rules.some(hasRelaxedServiceName),
  });
}

export function validateIngressStatus(
  { status }: Readonly<Ingress>,
  old: Readonly<Ingress>,
  features: FeatureGates,
): FieldErrors {
  const strict = features.enabled('StrictIPCIDRValidation');
  const before = new Set((old.status.loadBalancer.ingress ?? []).map(({ ip }) => ip ?? ''));
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip, hostname }, position) => {
    const path = FieldPath.of('status', 'loadBalancer', 'ingress').index(position);
    return [
      ...(ip ? isValidIpForLegacyField(path.child('ip'), ip, { strict, old: before }) : []),
      ...(hostname ? validateHostname(hostname, path.child('hostname')) : []),
    ];
  });
}

function validateSpec({ spec }: Readonly<Ingress>, options: IngressOptions): FieldErrors {
  const errors: FieldErrors = [];
  const rules = spec.rules ?? [];
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    errors.push(invalid(SPEC, asGiven(spec, 'rules', []), 'either `defaultBackend` or `rules` must be specified'));
  }
  if (spec.defaultBackend !== undefined) {
    append(errors, validateBackend(spec.defaultBackend, SPEC.child('defaultBackend'), options));
  }
  for (const [position, rule] of rules.entries()) {
    append(errors, validateRule(rule, SPEC.child('rules').index(position), options));
  }
  for (const [position, tls] of (spec.tls ?? []).entries()) {
    append(errors, validateTls(tls, SPEC.child('tls').index(position), options));
  }
  const name = spec.ingressClassName;
  if (name !== undefined) append(errors, invalidEach(SPEC.child('ingressClassName'), name, isDns1123Subdomain(name)));
  return errors;
}

function validateRule(rule: Readonly<IngressRule>, path: FieldPath, options: IngressOptions): FieldErrors {
  const errors: FieldErrors = [];
  const { host } = rule;
  if (host) {
    if (parseIp(host) !== undefined) {
      errors.push(invalid(path.child('host'), host, 'must be a DNS name, not an IP address'));
    }
    append(errors, validateHost(host, path.child('host')));
  }
  if (!host?.includes('*') || !options.anyWildcardRule) append(errors, validateRuleValue(rule, path, options));
  return errors;
}

const validateHost = (host: string, path: FieldPath): FieldErrors =>
  invalidEach(path, host, host.includes('*') ? isWildcardDns1123Subdomain(host) : isDns1123Subdomain(host));

function validateRuleValue({ http }: Readonly<IngressRule>, path: FieldPath, options: IngressOptions): FieldErrors {
  if (http === undefined) return [];
  const at = path.child('http', 'paths');
  const paths = http.paths ?? [];
  if (paths.length === 0) return [required(at)];
  return paths.flatMap((each, position) => validatePath(each, at.index(position), options));
}

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_ENDINGS = ['/..', '/.'];

function validatePath(each: Readonly<HTTPIngressPath>, path: FieldPath, options: IngressOptions): FieldErrors {
  const { pathType, path: target = '', backend } = each;
  if (pathType === null || pathType === undefined) {
    return [required(path.child('pathType'), 'pathType must be specified')];
  }
  const errors: FieldErrors = [];
  const at = path.child('path');
  if (!PATH_TYPES.includes(pathType)) errors.push(notSupported(path.child('pathType'), pathType, PATH_TYPES));
  else if (!target.startsWith('/') && (target !== '' || pathType !== 'ImplementationSpecific')) {
    errors.push(invalid(at, target, 'must be an absolute path'));
  }
  if (pathType === 'Exact' || pathType === 'Prefix') {
    for (const part of BAD_SEQUENCES) {
      if (target.includes(part)) errors.push(invalid(at, target, `must not contain '${part}'`));
    }
    for (const ending of BAD_ENDINGS) {
      if (target.endsWith(ending)) errors.push(invalid(at, target, `cannot end with '${ending}'`));
    }
  }
  append(errors, validateBackend(backend, path.child('backend'), options));
  return errors;
}

function validateBackend(
  { resource, service }: Readonly<IngressBackend>,
  path: FieldPath,
  options: IngressOptions,
): FieldErrors {
  if (resource !== undefined && service !== undefined) {
    return [invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return validateTypedReference(resource, path.child('resource'));
  if (service !== undefined) return validateServiceBackend(service, path, options);
  return [invalid(path, '', 'resource or service backend is required')];
}

function validateServiceBackend(
  { name, port }: Readonly<IngressServiceBackend>,
  path: FieldPath,
  { relaxedServiceNames }: IngressOptions,
): FieldErrors {
  const nameRule = relaxedServiceNames ? isDns1123Label : isDns1035Label;
  const errors =
    name === ''
      ? [required(path.child('service', 'name'))]
      : invalidEach(path.child('service', 'name'), name, nameRule(name));
  if (port.name && port.number) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (port.name) {
    append(errors, invalidEach(path.child('service', 'port', 'name'), port.name, isValidPortName(port.name)));
  } else if (port.number) append(errors, validatePort(port.number, path.child('service', 'port', 'number')));
  else errors.push(required(path, 'port name or number is required'));
  return errors;
}

function validateTls(tls: Readonly<IngressTLS>, path: FieldPath, { anySecretName }: IngressOptions): FieldErrors {
  const errors = (tls.hosts ?? []).flatMap((host, position) => validateHost(host, path.child('hosts').index(position)));
  const { secretName } = tls;
  if (!anySecretName && secretName) {
    append(errors, invalidEach(path.child('secretName'), secretName, isDns1123Subdomain(secretName)));
  }
  return errors;
}

const hasRelaxedServiceName = ({ http }: Readonly<IngressRule>): boolean =>
  (http?.paths ?? []).some(({ backend }) => {
    const name = backend.service?.name;
    return name !== undefined && isDns1123Label(name).length === 0 && isDns1035Label(name).length > 0;
  });
