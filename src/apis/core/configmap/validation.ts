import { append } from '../../../lib/values/append.js';
import { ownMember } from '../../../lib/values/plain-object.js';
import { type FieldErrors, FieldPath, invalid, tooLong } from '../../../machinery/field-error.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { isConfigMapKey } from '../../../machinery/validation/names.js';
import type { MetadataErrors } from '../../../registry/kind.js';
import type { ConfigMap } from '../../../schema/generated/core.v1.js';
import { base64Length, MAX_DATA_BYTES, validateFrozen } from '../shared/key-values.js';

export function validateConfigMap(object: Readonly<ConfigMap>): FieldErrors {
  const errors: FieldErrors = [];
  let bytes = 0;
  // hot: maps may have very many keys, which are sorted only to report the wrong ones.
  const { data, binaryData } = object;
  const wrong = Object.keys(data ?? {}).filter((key) => {
    bytes += Buffer.byteLength(data?.[key] ?? '');
    return isConfigMapKey(key).length > 0 || ownMember(binaryData, key) !== undefined;
  });
  for (const key of wrong.sort()) {
    const at = FieldPath.of('data').key(key);
    append(errors, invalidEach(at, key, isConfigMapKey(key)));
    if (ownMember(binaryData, key) !== undefined) {
      errors.push(invalid(at, key, 'duplicate of key present in binaryData'));
    }
  }
  const wrongBinary = Object.keys(binaryData ?? {}).filter((key) => {
    bytes += base64Length(binaryData?.[key] ?? '');
    return isConfigMapKey(key).length > 0;
  });
  for (const key of wrongBinary.sort()) {
    append(errors, invalidEach(FieldPath.of('binaryData').key(key), key, isConfigMapKey(key)));
  }
  // Too much is a fault of the whole object: the path is empty.
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong(FieldPath.of(''), MAX_DATA_BYTES));
  return errors;
}

export const validateConfigMapUpdate = (
  object: Readonly<ConfigMap>,
  old: Readonly<ConfigMap>,
  { whole, change }: MetadataErrors,
): FieldErrors => [
  ...change,
  ...validateFrozen(object, old, ['data', 'binaryData'], 'data'),
  ...whole,
  ...validateConfigMap(object),
];
