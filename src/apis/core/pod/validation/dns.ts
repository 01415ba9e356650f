import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, required } from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isValidIpForLegacyField } from '../../../../machinery/validation/ip.js';
import { isDns1123Subdomain, isDns1123SubdomainWithUnderscore } from '../../../../machinery/validation/names.js';
import type { PodSpec } from '../../../../schema/generated/core.v1.js';
import type { PodRules } from './pod-rules.js';

// What the resolver of a container can use.
const MAX_NAMESERVERS = 3;
const MAX_SEARCH_PATHS = 32;
const MAX_SEARCH_LIST_CHARACTERS = 2048;

export function validateDnsConfig(
  { dnsPolicy, dnsConfig }: Readonly<PodSpec>,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (!dnsConfig.nameservers) {
      const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [required(path.child('nameservers'), why)];
    }
  }
  if (dnsConfig === undefined) return [];
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  const errors: FieldErrors = [];
  if (nameservers.length > MAX_NAMESERVERS) {
    const why = `must not have more than ${MAX_NAMESERVERS} nameservers`;
    errors.push(invalid(path.child('nameservers'), nameservers, why));
  }
  for (const [position, nameserver] of nameservers.entries()) {
    const at = path.child('nameservers').index(position);
    append(errors, isValidIpForLegacyField(at, nameserver, { strict: rules.strictAddresses }));
  }
  append(errors, validateSearches(searches, path.child('searches'), rules.relaxedDnsSearches));
  for (const [position, { name }] of options.entries()) {
    if (!name) errors.push(required(path.child('options').index(position), 'must not be empty'));
  }
  return errors;
}

function validateSearches(searches: readonly string[], path: FieldPath, relaxed: boolean): FieldErrors {
  const errors: FieldErrors = [];
  if (searches.length > MAX_SEARCH_PATHS) {
    errors.push(invalid(path, searches, `must not have more than ${MAX_SEARCH_PATHS} search paths`));
  }
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_LIST_CHARACTERS) {
    const why = `must not have more than ${MAX_SEARCH_LIST_CHARACTERS} characters (including spaces) in the search list`;
    errors.push(invalid(path, searches, why));
  }
  const rule = relaxed ? isDns1123SubdomainWithUnderscore : isDns1123Subdomain;
  for (const [position, search] of searches.entries()) {
    if (relaxed && search === '.') continue;
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    append(errors, invalidEach(path.index(position), domain, rule(domain)));
  }
  return errors;
}
