import { append } from '../../lib/values/append.js';
import { type FieldErrors, FieldPath, forbidden, invalid } from '../../machinery/field-error.js';
import { NOT_NEGATIVE } from '../../machinery/validation/fields.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import { dropGatedFields, gated } from '../../registry/gated-fields.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { Lease } from '../../schema/generated/coordination.v1.js';
import { validateStrategyName } from './strategy-name.js';

export const leases: KindDefinition<Lease> = {
  group: 'coordination.k8s.io',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  namespaced: true,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { anyFinalizer: true },
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object, { features }) => dropGatedFields(GATED, object, undefined, features),
    prepareForUpdate: (object, old, { features }) => dropGatedFields(GATED, object, old, features),
    validate: validateLease,
    validateUpdate: validateLease,
  },
  table: {
    columns: [NAME_COLUMN, column('Holder', 'Who holds the lease.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', object.spec.holderIdentity ?? '', ageCell(object, now)],
  },
};

const GATED = [
  gated<Lease>('CoordinatedLeaderElection', 'spec.strategy'),
  gated<Lease>('CoordinatedLeaderElection', 'spec.preferredHolder'),
];

function validateLease({ spec }: Readonly<Lease>): FieldErrors {
  const path = FieldPath.of('spec');
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = spec;
  const errors: FieldErrors = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(invalid(path.child('leaseDurationSeconds'), leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(invalid(path.child('leaseTransitions'), leaseTransitions, NOT_NEGATIVE));
  }
  if (strategy !== undefined) append(errors, validateStrategyName(strategy, path.child('strategy')));
  if (preferredHolder && !strategy) {
    errors.push(forbidden(path.child('preferredHolder'), 'may only be specified if `strategy` is defined'));
  }
  return errors;
}
