import { append } from '../../../lib/values/append.js';
import { cidrContains, parseCidr } from '../../../lib/values/ip-address.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../machinery/field-error.js';
import { invalidEach, validatePort } from '../../../machinery/validation/fields.js';
import { isValidCidrForLegacyField, type LegacyAddressOptions } from '../../../machinery/validation/ip.js';
import { selectorHasInvalidLabelValue, validateLabelSelector } from '../../../machinery/validation/label-selector.js';
import { isValidPortName } from '../../../machinery/validation/names.js';
import type { FeatureGates, MetadataErrors } from '../../../registry/kind.js';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../../schema/generated/networking.v1.js';

const SPEC = FieldPath.of('spec');
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = ['Ingress', 'Egress'];

interface PolicyOptions {
  readonly allowInvalidLabelValue: boolean;
  readonly addresses: LegacyAddressOptions;
}

export const validateNetworkPolicy = (object: Readonly<NetworkPolicy>, features: FeatureGates): FieldErrors =>
  validateSpec(object, {
    allowInvalidLabelValue: false,
    addresses: { strict: features.enabled('StrictIPCIDRValidation') },
  });

export function validateNetworkPolicyUpdate(
  object: Readonly<NetworkPolicy>,
  old: Readonly<NetworkPolicy>,
  features: FeatureGates,
  { whole, change }: MetadataErrors,
): FieldErrors {
  const strict = features.enabled('StrictIPCIDRValidation');
  const allowInvalidLabelValue = selectorHasInvalidLabelValue(old.spec.podSelector);
  const before = new Set(
    peersOf(old, SPEC).flatMap(({ peer: { ipBlock } }) =>
      ipBlock === undefined ? [] : [ipBlock.cidr, ...(ipBlock.except ?? [])],
    ),
  );
  // kube-apiserver applies the rules of a new policy first and those of an update after: what breaks both shows twice.
  return [
    ...whole,
    ...validateSpec(object, { allowInvalidLabelValue, addresses: { strict } }),
    ...change,
    ...validateSpec(object, { allowInvalidLabelValue, addresses: { strict, old: before } }),
  ];
}

/** Every peer of a policy with its path, incoming before outgoing. */
export function peersOf(
  { spec }: Readonly<NetworkPolicy>,
  path: FieldPath,
): { peer: Readonly<NetworkPolicyPeer>; path: FieldPath }[] {
  const list = (peers: readonly NetworkPolicyPeer[] | undefined, at: FieldPath) =>
    (peers ?? []).map((peer, position) => ({ peer, path: at.index(position) }));
  return [
    ...(spec.ingress ?? []).flatMap((rule, position) =>
      list(rule.from, path.child('ingress').index(position).child('from')),
    ),
    ...(spec.egress ?? []).flatMap((rule, position) => list(rule.to, path.child('egress').index(position).child('to'))),
  ];
}

function validateSpec({ spec }: Readonly<NetworkPolicy>, options: PolicyOptions): FieldErrors {
  const errors = validateLabelSelector(spec.podSelector, options, SPEC.child('podSelector'));
  for (const [position, rule] of (spec.ingress ?? []).entries()) {
    const path = SPEC.child('ingress').index(position);
    append(errors, validatePorts(rule.ports, path), validatePeers(rule.from, path.child('from'), options));
  }
  for (const [position, rule] of (spec.egress ?? []).entries()) {
    const path = SPEC.child('egress').index(position);
    append(errors, validatePorts(rule.ports, path), validatePeers(rule.to, path.child('to'), options));
  }
  const types = spec.policyTypes ?? [];
  const path = SPEC.child('policyTypes');
  if (types.length > POLICY_TYPES.length) {
    errors.push(invalid(path, types, 'may not specify more than two policyTypes'));
    return errors;
  }
  for (const [position, type] of types.entries()) {
    if (!POLICY_TYPES.includes(type)) errors.push(notSupported(path.index(position), type, POLICY_TYPES));
  }
  return errors;
}

const validatePorts = (ports: readonly NetworkPolicyPort[] | undefined, path: FieldPath): FieldErrors =>
  (ports ?? []).flatMap((port, position) => validatePolicyPort(port, path.child('ports').index(position)));

function validatePolicyPort({ protocol, port, endPort }: Readonly<NetworkPolicyPort>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const end = path.child('endPort');
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    errors.push(notSupported(path.child('protocol'), protocol, PROTOCOLS));
  }
  if (port === undefined) {
    if (endPort !== undefined) errors.push(invalid(end, endPort, 'may not be specified when `port` is not specified'));
  } else if (typeof port === 'number') {
    append(errors, validatePort(port, path.child('port')));
    if (endPort === undefined) return errors;
    if (endPort < port) errors.push(invalid(end, port, 'must be greater than or equal to `port`'));
    append(errors, validatePort(endPort, end));
  } else {
    if (endPort !== undefined) errors.push(invalid(end, endPort, 'may not be specified when `port` is non-numeric'));
    append(errors, invalidEach(path.child('port'), port, isValidPortName(port)));
  }
  return errors;
}

const validatePeers = (
  peers: readonly NetworkPolicyPeer[] | undefined,
  path: FieldPath,
  options: PolicyOptions,
): FieldErrors => (peers ?? []).flatMap((peer, position) => validatePeer(peer, path.index(position), options));

function validatePeer(peer: Readonly<NetworkPolicyPeer>, path: FieldPath, options: PolicyOptions): FieldErrors {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...validateLabelSelector(podSelector, options, path.child('podSelector')),
    ...validateLabelSelector(namespaceSelector, options, path.child('namespaceSelector')),
    ...(ipBlock === undefined ? [] : validateIpBlock(ipBlock, path.child('ipBlock'), options.addresses)),
  ];
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && ipBlock === undefined) errors.push(required(path, 'must specify a peer'));
  else if (selects && ipBlock !== undefined) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateIpBlock(block: Readonly<IPBlock>, path: FieldPath, options: LegacyAddressOptions): FieldErrors {
  if (block.cidr === '') return [required(path.child('cidr'))];
  const errors = isValidCidrForLegacyField(path.child('cidr'), block.cidr, options);
  const cidr = parseCidr(block.cidr);
  if (cidr === undefined) return errors;
  for (const [position, text] of (block.except ?? []).entries()) {
    const at = path.child('except').index(position);
    append(errors, isValidCidrForLegacyField(at, text, options));
    const except = parseCidr(text);
    if (except === undefined) continue;
    const inside = cidrContains(cidr, { family: except.family, value: except.network });
    if (!inside || cidr.prefixLength >= except.prefixLength) {
      errors.push(invalid(at, text, 'must be a strict subset of `cidr`'));
    }
  }
  return errors;
}
