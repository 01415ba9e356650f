import { parseCidr } from '../../lib/values/ip-address.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { asGiven } from '../../machinery/explicit-empty.js';
import { IMMUTABLE } from '../../machinery/validation/fields.js';
import { isValidCidr } from '../../machinery/validation/ip.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition } from '../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { ServiceCIDR, ServiceCIDRSpec } from '../../schema/generated/networking.v1.js';
import { keepMetaForStatus } from '../status-metadata.js';

const CIDRS = FieldPath.of('spec', 'cidrs');

/** A block of addresses that services get theirs from. */
export const serviceCidrs: KindDefinition<ServiceCIDR> = {
  group: 'networking.k8s.io',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  singular: 'servicecidr',
  namespaced: false,
  versions: [
    { version: 'v1' },
    {
      version: 'v1beta1',
      enabledByDefault: false,
      ...deprecated('networking.k8s.io/v1beta1 ServiceCIDR', { in: '1.34', removedIn: '1.37' }),
    },
  ],
  storageVersion: 'v1',
  // A status may come with a new block, and an ordinary update may change it.
  strategy: {
    validate: ({ spec }) => validateCidrs(spec.cidrs ?? []),
    validateUpdate: ({ spec }, old) => validateChange(spec, old.spec.cidrs ?? []),
    status: {
      prepareForUpdate: (object, old) => keepMetaForStatus(object.metadata, old.metadata),
      validateUpdate: () => [],
    },
    // kube-apiserver names a group version that does not exist: whoever writes a status owns the spec sent along.
    resetFields: { '': [], status: [] },
  },
  subresources: { status: { kind: 'ServiceCIDR', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [NAME_COLUMN, column('CIDRs', 'The blocks, one of a family.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', (object.spec.cidrs ?? []).join(','), ageCell(object, now)],
  },
};

function validateCidrs(cidrs: readonly string[]): FieldErrors {
  if (cidrs.length === 0) return [required(CIDRS, 'at least one CIDR required')];
  if (cidrs.length > 2) {
    return [invalid(CIDRS, { CIDRs: cidrs }, 'may only hold up to 2 values')];
  }
  const errors = cidrs.flatMap((cidr, position) => isValidCidr(CIDRS.index(position), cidr));
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (cidrs.length === 2 && first !== undefined && first === second) {
    const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    errors.push(invalid(CIDRS, cidrs, why));
  }
  return errors;
}

/** A block stays; a second family may be added to it. */
function validateChange(spec: Readonly<ServiceCIDRSpec>, before: readonly string[]): FieldErrors {
  const cidrs = spec.cidrs ?? [];
  const changed = (position: number): FieldErrors =>
    cidrs[position] === before[position] ? [] : [invalid(CIDRS.index(position), cidrs[position], IMMUTABLE)];
  if (cidrs.length === before.length) return before.flatMap((_cidr, position) => changed(position));
  if (before.length === 1 && cidrs.length === 2) return [...changed(0), ...validateCidrs(cidrs)];
  return [invalid(CIDRS, asGiven(spec, 'cidrs', []), IMMUTABLE)];
}
