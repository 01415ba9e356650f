import { append } from '../../../lib/append.js';
import { ownMember } from '../../../lib/plain-object.js';
import { type FieldErrors, FieldPath, invalid, tooLong } from '../../../machinery/field-error.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { isConfigMapKey } from '../../../machinery/validation/names.js';
import type { ConfigMap } from '../../../schema/generated/core.v1.js';
import { base64Length, MAX_DATA_BYTES, sortedKeys, validateFrozen } from '../shared/key-values.js';

export function validateConfigMap(object: Readonly<ConfigMap>): FieldErrors {
  const errors: FieldErrors = [];
  let bytes = 0;
  for (const key of sortedKeys(object.data)) {
    const at = FieldPath.of('data').key(key);
    append(errors, invalidEach(at, key, isConfigMapKey(key)));
    if (ownMember(object.binaryData, key) !== undefined) {
      errors.push(invalid(at, key, 'duplicate of key present in binaryData'));
    }
    bytes += Buffer.byteLength(object.data?.[key] ?? '');
  }
  for (const key of sortedKeys(object.binaryData)) {
    append(errors, invalidEach(FieldPath.of('binaryData').key(key), key, isConfigMapKey(key)));
    bytes += base64Length(object.binaryData?.[key] ?? '');
  }
  // Too much is a fault of the whole object: the path is empty.
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong(FieldPath.of(''), MAX_DATA_BYTES));
  return errors;
}

export const validateConfigMapUpdate = (object: Readonly<ConfigMap>, old: Readonly<ConfigMap>): FieldErrors => [
  ...validateFrozen(object, old, ['data', 'binaryData']),
  ...validateConfigMap(object),
];
