import { type FieldErrors, type FieldPath, invalid } from '../../../machinery/field-error.js';
import { validateNonNegative } from '../../../machinery/validation/fields.js';

/** Counts in a status are not negative, in the order given. */
export const validateCounts = <T extends object>(
  status: Readonly<T>,
  members: readonly (keyof T & string)[],
  path: FieldPath,
): FieldErrors =>
  members.flatMap((member) => validateNonNegative(status[member] as number | undefined, path.child(member)));

interface Replicas {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

/** No count of some replicas is above that of all; what is available is ready. */
export function validateReplicaCounts<T extends Replicas>(
  status: Readonly<T>,
  parts: readonly (keyof T & string)[],
  readyText: string,
  path: FieldPath,
): FieldErrors {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const errors: FieldErrors = [];
  for (const member of parts) {
    const count = (status[member] as number | undefined) ?? 0;
    if (count > replicas) errors.push(invalid(path.child(member), count, 'cannot be greater than status.replicas'));
  }
  if (availableReplicas > readyReplicas) {
    errors.push(invalid(path.child('availableReplicas'), availableReplicas, `cannot be greater than ${readyText}`));
  }
  return errors;
}

export function validateCollisionCount(
  status: { readonly collisionCount?: number },
  old: { readonly collisionCount?: number },
  path: FieldPath,
): FieldErrors {
  if (old.collisionCount === undefined) return [];
  const count = status.collisionCount ?? 0;
  if (status.collisionCount !== undefined && count >= old.collisionCount) return [];
  return [invalid(path.child('collisionCount'), count, 'cannot be decremented')];
}
