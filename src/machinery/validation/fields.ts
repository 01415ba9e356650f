// Rules many fields share, as errors at a path.
import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, type FieldPath, invalid, required, named } from '../field-error.js';
import { isDns1123Label, isDns1123Subdomain, isValidPortNum, patternMessage } from './names.js';

export const NOT_NEGATIVE = 'must be greater than or equal to 0';
export const IMMUTABLE = 'field is immutable';

/** Every message of a rule about a value, at one path. */
export const invalidEach = (path: FieldPath, value: unknown, messages: readonly string[]): FieldErrors =>
  messages.map((message) => invalid(path, value, message));

export function validateNonNegative(value: number | bigint | undefined, path: FieldPath): FieldErrors {
  return value !== undefined && value < 0 ? [invalid(path, value, NOT_NEGATIVE)] : [];
}

export const validatePort = (port: number, path: FieldPath): FieldErrors =>
  invalidEach(path, port, isValidPortNum(port));

export const validateImmutableField = (value: unknown, old: unknown, path: FieldPath): FieldErrors =>
  deepEqual(value, old) ? [] : [invalid(path, value, IMMUTABLE)];

/** Of a string that has a type of its own. */
export const validateImmutableName = (value: string | undefined, old: unknown, path: FieldPath): FieldErrors =>
  value === old ? [] : [invalid(path, named(value), IMMUTABLE)];

/** A DNS name of at least three parts, as controllers and finalizers are named. */
export function isFullyQualifiedName(path: FieldPath, name: string): FieldErrors {
  if (name === '') return [required(path)];
  const messages = isDns1123Subdomain(name);
  if (messages.length > 0) return [invalid(path, name, messages.join(','))];
  if (name.split('.').length < 3) {
    return [invalid(path, name, 'should be a domain with at least three segments separated by dots')];
  }
  return [];
}

/** A DNS name of at least two parts; a closing dot is allowed. */
export function isFullyQualifiedDomainName(path: FieldPath, name: string): FieldErrors {
  if (name === '') return [required(path)];
  const domain = name.endsWith('.') ? name.slice(0, -1) : name;
  const messages = isDns1123Subdomain(domain);
  if (messages.length > 0) return [invalid(path, domain, messages.join(','))];
  const labels = domain.split('.');
  if (labels.length < 2) {
    return [invalid(path, domain, 'should be a domain with at least two segments separated by dots')];
  }
  for (const label of labels) {
    const wrong = isDns1123Label(label);
    if (wrong.length > 0) return [invalid(path, label, wrong.join(','))];
  }
  return [];
}

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPath = new RegExp(`^${HTTP_PATH}$`);

/** `domain/path`, as signer names and job managers are written. */
export function isDomainPrefixedPath(path: FieldPath, value: string): FieldErrors {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1) {
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const host = value.slice(0, slash);
  const rest = value.slice(slash + 1);
  const errors = invalidEach(path, host, isDns1123Subdomain(host));
  if (!httpPath.test(rest)) errors.push(invalid(path, rest, patternMessage('Invalid path', HTTP_PATH)));
  return errors;
}
