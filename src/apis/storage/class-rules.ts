// What the two kinds of classes have in common: a driver and the parameters it is called with.
import { type FieldErrors, type FieldPath, invalid, required, tooLong } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import { isQualifiedName } from '../../machinery/validation/names.js';

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

export function validateProvisioner(provisioner: string, path: FieldPath): FieldErrors {
  if (provisioner === '') return [required(path)];
  const lower = provisioner.toLowerCase();
  return invalidEach(path, lower, isQualifiedName(lower));
}

export function validateParameters(
  parameters: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldErrors {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > MAX_PARAMETERS) return [tooLong(path, MAX_PARAMETERS)];
  const errors: FieldErrors = [];
  if (parameters?.[''] !== undefined) errors.push(invalid(path, '', 'field can not be empty.'));
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > MAX_PARAMETERS_BYTES) errors.push(tooLong(path, MAX_PARAMETERS_BYTES));
  return errors;
}
