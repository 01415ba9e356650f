import { append } from '../../../lib/append.js';
import { parseCidr } from '../../../lib/ip-address.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  withMore,
} from '../../../machinery/field-error.js';
import { isValidCidrForLegacyField } from '../../../machinery/validation/ip.js';
import { validateLabelName } from '../../../machinery/validation/label-selector.js';
import { isValidLabelValue } from '../../../machinery/validation/names.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Node, Taint } from '../../../schema/generated/core.v1.js';
import { validateResourceQuantity } from '../pod/validation/resources.js';
import { sortedKeys } from '../shared/key-values.js';
import { validateConfigSource, validateConfigStatus } from './config-source.js';

const METADATA = FieldPath.of('metadata');
const POD_CIDRS = FieldPath.of('spec', 'podCIDRs');
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateNode(object: Readonly<Node>, features: FeatureGates): FieldErrors {
  const errors = [...validateTaints(object.spec.taints), ...validateResources(object)];
  const swap = object.status.nodeInfo?.swap?.capacity;
  if (swap !== undefined && swap <= 0) {
    errors.push(invalid(METADATA.child('nodeSwapStatus', 'capacity'), swap, 'must be greater than zero'));
  }
  append(errors, validatePodCidrs(object.spec.podCIDRs ?? [], features.enabled('StrictIPCIDRValidation')));
  return errors;
}

/** The rules of an update of the node or of its status, beyond those of the node itself. */
export function validateNodeUpdate(object: Readonly<Node>, old: Readonly<Node>): FieldErrors {
  const { spec, status } = object;
  const errors = validateResources(object);
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
  append(errors, validateTaints(spec.taints));
  if ((spec.externalID ?? '') !== (old.spec.externalID ?? '')) {
    errors.push(forbidden(FieldPath.of('spec', 'externalID'), 'may not be updated'));
  }
  return errors;
}

function validateTaints(taints: readonly Taint[] | undefined): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, taint] of (taints ?? []).entries()) {
    const path = METADATA.child('taints').index(position);
    append(errors, validateLabelName(taint.key, path.child('key')));
    const wrong = isValidLabelValue(taint.value ?? '');
    if (wrong.length > 0) errors.push(invalid(path.child('value'), taint.value ?? '', wrong.join(';')));
    if (taint.effect === '') errors.push(required(path.child('effect')));
    else if (!TAINT_EFFECTS.includes(taint.effect)) {
      errors.push(notSupported(path.child('effect'), taint.effect, TAINT_EFFECTS));
    }
    const key = `${taint.effect} ${taint.key}`;
    if (seen.has(key)) errors.push(duplicateTaint(taint, path));
    seen.add(key);
  }
  return errors;
}

function duplicateTaint(taint: Readonly<Taint>, path: FieldPath): FieldErrors[number] {
  const shown = {
    Key: taint.key,
    Value: taint.value ?? '',
    Effect: taint.effect,
    TimeAdded: taint.timeAdded ?? null,
  };
  return withMore(duplicate(path, shown), 'taints must be unique by key and effect pair');
}

function validateResources({ status }: Readonly<Node>): FieldErrors {
  return (['capacity', 'allocatable'] as const).flatMap((member) =>
    sortedKeys(status[member]).flatMap((name) =>
      validateResourceQuantity(name, status[member]?.[name] ?? '0', FieldPath.of('status', member, name)),
    ),
  );
}

function validatePodCidrs(cidrs: readonly string[], strict: boolean): FieldErrors {
  const errors = cidrs.flatMap((cidr, position) =>
    isValidCidrForLegacyField(POD_CIDRS.index(position), cidr, { strict }),
  );
  if (cidrs.length <= 1) return errors;
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.family));
  if (families.size < 2 || cidrs.length > 2) {
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
