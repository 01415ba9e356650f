import { append } from '../../../lib/values/append.js';
import { parseCidr } from '../../../lib/values/ip-address.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  internal,
  invalid,
} from '../../../machinery/field-error.js';
import { isValidCidrForLegacyField } from '../../../machinery/validation/ip.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Node } from '../../../schema/generated/core.v1.js';
import { validateResourceQuantity } from '../pod/validation/resources.js';
import { sortedKeys } from '../shared/key-values.js';
import { validateNodeAnnotations } from './annotations.js';
import { validateConfigSource, validateConfigStatus } from './config-source.js';
import { validateTaints } from './taints.js';

const METADATA = FieldPath.of('metadata');
const POD_CIDRS = FieldPath.of('spec', 'podCIDRs');

export function validateNode(object: Readonly<Node>, features: FeatureGates): FieldErrors {
  const errors = [
    ...validateNodeAnnotations(object.metadata.annotations, METADATA.child('annotations')),
    ...validateTaints(object.spec.taints ?? [], METADATA.child('taints')),
    ...validateResources(object),
  ];
  const swap = object.status.nodeInfo?.swap?.capacity;
  if (swap !== undefined && swap <= 0) {
    errors.push(invalid(METADATA.child('nodeSwapStatus', 'capacity'), swap, 'must be greater than zero'));
  }
  append(errors, validatePodCidrs(object.spec.podCIDRs ?? [], features.enabled('StrictIPCIDRValidation')));
  return errors;
}

/** The rules of an update of the node or of its status, beyond those of the node itself. */
export function validateNodeUpdate(object: Readonly<Node>, old: Readonly<Node>): FieldErrors {
  const { metadata, spec, status } = object;
  const errors = [
    ...validateNodeAnnotations(metadata.annotations, METADATA.child('annotations')),
    ...validateResources(object),
  ];
  const seen = new Set<string>();
  for (const [position, address] of (status.addresses ?? []).entries()) {
    const key = JSON.stringify([address.type, address.address]);
    if (seen.has(key)) {
      const shown = { Type: address.type, Address: address.address };
      errors.push(duplicate(FieldPath.of('status', 'addresses').index(position), shown));
    }
    seen.add(key);
  }
  append(errors, keepPodCidrs(spec.podCIDRs ?? [], old.spec.podCIDRs ?? []));
  if (old.spec.providerID && old.spec.providerID !== spec.providerID) {
    const why = 'node updates may not change providerID except from "" to valid';
    errors.push(forbidden(FieldPath.of('spec', 'providerID'), why));
  }
  if (spec.configSource !== undefined) {
    append(errors, validateConfigSource(spec.configSource, FieldPath.of('spec', 'configSource')));
  }
  if (status.config !== undefined) {
    append(errors, validateConfigStatus(status.config, FieldPath.of('status', 'config')));
  }
  append(errors, validateTaints(spec.taints ?? [], METADATA.child('taints')));
  if ((spec.externalID ?? '') !== (old.spec.externalID ?? '')) {
    errors.push(forbidden(FieldPath.of('spec', 'externalID'), 'may not be updated'));
  }
  return errors;
}

function validateResources({ status }: Readonly<Node>): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of ['capacity', 'allocatable'] as const) {
    for (const name of sortedKeys(status[member])) {
      const path = FieldPath.of('status', member, name);
      append(errors, validateResourceQuantity(name, status[member]?.[name] ?? '0', path));
    }
  }
  return errors;
}

function validatePodCidrs(cidrs: readonly string[], strict: boolean): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, cidr] of cidrs.entries()) {
    append(errors, isValidCidrForLegacyField(POD_CIDRS.index(position), cidr, { strict }));
  }
  if (cidrs.length <= 1) return errors;
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  const bad = families.indexOf(undefined);
  if (bad >= 0) {
    const why = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${cidrs[bad]})`;
    errors.push(internal(POD_CIDRS, `invalid PodCIDRs. failed to check with dual stack with error:${why}`));
  }
  if (bad >= 0 || new Set(families).size < 2 || cidrs.length > 2) {
    errors.push(invalid(POD_CIDRS, cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

function keepPodCidrs(cidrs: readonly string[], before: readonly string[]): FieldErrors {
  const refused = forbidden(POD_CIDRS, 'node updates may not change podCIDR except from "" to valid');
  if (before.length === 0) return [];
  if (before.length !== cidrs.length) return [refused];
  return before.filter((cidr, position) => cidr !== cidrs[position]).map(() => refused);
}
