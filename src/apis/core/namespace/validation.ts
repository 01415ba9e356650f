import { type FieldErrors, FieldPath, invalid, named } from '../../../machinery/field-error.js';
import { validateFinalizerName } from '../../../machinery/validation/object-meta.js';
import type { Namespace } from '../../../schema/generated/core.v1.js';

const FINALIZERS = FieldPath.of('spec', 'finalizers');
const PLAIN_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

export const validateNamespace = ({ spec }: Readonly<Namespace>): FieldErrors =>
  (spec.finalizers ?? []).flatMap((name) => validateFinalizer(name, FINALIZERS));

export const validateFinalize = ({ spec }: Readonly<Namespace>): FieldErrors =>
  (spec.finalizers ?? []).flatMap((name, position) => validateFinalizer(name, FINALIZERS.index(position)));

export function validateNamespaceStatus(object: Readonly<Namespace>): FieldErrors {
  const phase = object.status.phase ?? '';
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const expected = deleting ? 'Terminating' : 'Active';
  if (phase === expected) return [];
  const why = `may only be '${expected}' if \`deletionTimestamp\` is ${deleting ? 'not ' : ''}empty`;
  return [invalid(FieldPath.of('status', 'Phase'), named(phase), why)];
}

function validateFinalizer(name: string, path: FieldPath): FieldErrors {
  const errors = validateFinalizerName(name, path);
  if (!name.includes('/') && !PLAIN_FINALIZERS.includes(name)) {
    errors.push(invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified'));
  }
  return errors;
}
