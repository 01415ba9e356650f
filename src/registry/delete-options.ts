// The options of a deletion, as clients and the server's own controllers pass them.
import { append } from '../lib/values/append.js';
import { type FieldErrors, FieldPath, invalid as invalidField, notSupported, named } from '../machinery/field-error.js';
import { invalid } from '../machinery/status.js';
import type { DeleteOptions } from './kind.js';

/** Requests the deletion of an object that cannot be read. */
export const UNSAFE_DELETE = 'ignoreStoreReadErrorWithClusterBreakingPotential';
/** The options that such a deletion excludes, in the order of the error message. */
const NOT_UNSAFE = ['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;

const PROPAGATION_POLICIES = ['Foreground', 'Background', 'Orphan'];

export function checkDeleteOptions(options: DeleteOptions): void {
  const path = FieldPath.of('propagationPolicy');
  const { propagationPolicy: policy } = options;
  const errors: FieldErrors = [];
  if (options.orphanDependents !== undefined && policy !== undefined) {
    errors.push(invalidField(path, named(policy), 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (policy !== undefined && !PROPAGATION_POLICIES.includes(policy)) {
    errors.push(notSupported(path, policy, [...PROPAGATION_POLICIES, 'nil']));
  }
  append(errors, dryRunErrors(options.dryRun ?? []));
  if (options[UNSAFE_DELETE]) {
    const beside = [
      ...((options.dryRun ?? []).length > 0 ? ['dryRun'] : []),
      ...NOT_UNSAFE.filter((name) => options[name] !== undefined),
    ];
    for (const name of beside) {
      errors.push(invalidField(FieldPath.of(UNSAFE_DELETE), true, `cannot be set together with .${name}`));
    }
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
}

/** Of any write. */
export const dryRunErrors = (dryRun: readonly string[]): FieldErrors =>
  dryRun.every((value) => value === 'All') ? [] : [notSupported(FieldPath.of('dryRun'), dryRun, ['All'])];
