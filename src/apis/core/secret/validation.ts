import { append } from '../../../lib/values/append.js';
import { type FieldErrors, FieldPath, invalid, required, tooLong } from '../../../machinery/field-error.js';
import { invalidEach, validateImmutableName } from '../../../machinery/validation/fields.js';
import { isConfigMapKey } from '../../../machinery/validation/names.js';
import type { MetadataErrors } from '../../../registry/kind.js';
import type { Secret } from '../../../schema/generated/core.v1.js';
import { readJsonMap } from '../shared/json-text.js';
import { base64Length, MAX_DATA_BYTES, sortedKeys, validateFrozen } from '../shared/key-values.js';

const DATA = FieldPath.of('data');
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

export function validateSecret(object: Readonly<Secret>): FieldErrors {
  const errors: FieldErrors = [];
  let bytes = 0;
  for (const key of sortedKeys(object.data)) {
    append(errors, invalidEach(DATA.key(key), key, isConfigMapKey(key)));
    bytes += base64Length(object.data?.[key] ?? '');
  }
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong(DATA, MAX_DATA_BYTES));
  append(errors, validateKeysOfType(object));
  return errors;
}

export const validateSecretUpdate = (
  object: Readonly<Secret>,
  old: Readonly<Secret>,
  { whole, change }: MetadataErrors,
): FieldErrors => [
  ...change,
  ...validateImmutableName(object.type ?? '', old.type ?? '', FieldPath.of('type')),
  ...validateFrozen(object, old, ['data']),
  ...whole,
  ...validateSecret(object),
];

function validateKeysOfType(object: Readonly<Secret>): FieldErrors {
  const has = (key: string): boolean => object.data?.[key] !== undefined;
  const missing = (...keys: string[]): FieldErrors =>
    keys.filter((key) => !has(key)).map((key) => required(DATA.key(key)));
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      // The controller adds the account's uid and the token later; only the name is required.
      if (object.metadata.annotations?.[ACCOUNT_NAME]) return [];
      return [required(FieldPath.of('metadata', 'annotations').key(ACCOUNT_NAME))];
    case 'kubernetes.io/dockercfg':
      return has('.dockercfg') ? validateJsonMap(object, '.dockercfg') : missing('.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return has('.dockerconfigjson') ? validateJsonMap(object, '.dockerconfigjson') : missing('.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return has('username') || has('password') ? [] : missing('username', 'password');
    case 'kubernetes.io/ssh-auth':
      return object.data?.['ssh-privatekey'] ? [] : [required(DATA.key('ssh-privatekey'))];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function validateJsonMap(object: Readonly<Secret>, key: string): FieldErrors {
  // One character per byte, since kube-apiserver's parser reports the byte at which it stops.
  const read = readJsonMap(Buffer.from(object.data?.[key] ?? '', 'base64').toString('latin1'));
  // The contents are secret, also in an error.
  return 'problem' in read ? [invalid(DATA.key(key), '<secret contents redacted>', read.problem)] : [];
}
