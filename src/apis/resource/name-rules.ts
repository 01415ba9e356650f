// The names of drivers, pools, devices, their attributes, and of requests.
import { type FieldErrors, type FieldPath, invalid, required, tooLong, named } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import {
  isCIdentifier,
  isDns1123Label,
  isDns1123Subdomain,
  SUBDOMAIN_MAX_LENGTH,
} from '../../machinery/validation/names.js';
import { validateCsiDriverName } from '../core/pod/validation/volume-sources.js';

const MAX_DOMAIN_LENGTH = 63;
const MAX_ID_LENGTH = 32;
export const MAX_QUALIFIED_NAME_LENGTH = MAX_DOMAIN_LENGTH + 1 + MAX_ID_LENGTH;

/** Drivers of devices are named as drivers of storage are. */
export const validateDriverName = validateCsiDriverName;

export const validateLabelText = (name: string, path: FieldPath): FieldErrors =>
  invalidEach(path, name, isDns1123Label(name));

export const validateSubdomain = (name: string, path: FieldPath): FieldErrors =>
  invalidEach(path, name, isDns1123Subdomain(name));

/** Segments that are each a DNS name. */
export function validatePoolName(name: string, path: FieldPath): FieldErrors {
  if (name === '') return [required(path)];
  const errors: FieldErrors = [];
  if (name.length > SUBDOMAIN_MAX_LENGTH) errors.push(tooLong(path, SUBDOMAIN_MAX_LENGTH));
  return [...errors, ...name.split('/').flatMap((segment) => validateSubdomain(segment, path))];
}

/** `domain/name`, or a name alone, which means the driver's own domain. */
export function validateQualifiedName(name: string, path: FieldPath): FieldErrors {
  if (name === '') return [required(path, 'name required')];
  const parts = name.split('/');
  if (parts.length > 2) return [];
  const [id = '', domain] = parts.reverse();
  if (domain === undefined) return validateIdentifier(id, path);
  return [
    ...(domain === '' ? [required(path, 'the domain must not be empty')] : validateDriverName(domain, path)),
    ...(id === '' ? [required(path, 'the name must not be empty')] : validateIdentifier(id, path)),
  ];
}

export const validateFullyQualifiedName = (name: string, path: FieldPath): FieldErrors => [
  ...validateQualifiedName(name, path),
  ...(name !== '' && !name.includes('/') ? [invalid(path, named(name), 'must include a domain')] : []),
];

function validateIdentifier(id: string, path: FieldPath): FieldErrors {
  const errors = invalidEach(path, id, isCIdentifier(id));
  return id.length > MAX_ID_LENGTH ? [tooLong(path, MAX_ID_LENGTH), ...errors] : errors;
}

const STANDARD_UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NORMAL_FORM =
  'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';

export function validateUid(uid: string, path: FieldPath): FieldErrors {
  const problem = uidProblem(uid);
  if (problem !== undefined) return [invalid(path, uid, `error validating uid: ${problem}`)];
  return uid.length === 36 && uid === uid.toLowerCase() ? [] : [invalid(path, uid, NORMAL_FORM)];
}

/** The forms of a uid differ in their length. */
function uidProblem(uid: string): string | undefined {
  const malformed = 'invalid UUID format';
  switch (uid.length) {
    case 32:
      return /^[0-9a-f]*$/i.test(uid) ? undefined : malformed;
    case 36:
      return STANDARD_UID.test(uid) ? undefined : malformed;
    case 38:
      if (!uid.startsWith('{') || !uid.endsWith('}')) return 'invalid bracketed UUID format';
      return STANDARD_UID.test(uid.slice(1, -1)) ? undefined : malformed;
    case 45:
      if (!/^urn:uuid:/i.test(uid)) return `invalid urn prefix: ${JSON.stringify(uid.slice(0, 9))}`;
      return STANDARD_UID.test(uid.slice(9)) ? undefined : malformed;
    default:
      return `invalid UUID length: ${uid.length}`;
  }
}
