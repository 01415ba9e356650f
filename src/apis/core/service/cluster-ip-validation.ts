// clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy: four fields that must agree.
import { append } from '../../../lib/values/append.js';
import { parseIp } from '../../../lib/values/ip-address.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  internal,
  invalid,
  notSupported,
  required,
  named,
} from '../../../machinery/field-error.js';
import { isValidIpForLegacyField } from '../../../machinery/validation/ip.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { familyOf, HEADLESS, isHeadless, needsClusterIp } from './service-rules.js';

const SPEC = FieldPath.of('spec');
const CLUSTER_IPS = SPEC.child('clusterIPs');
const FAMILIES = SPEC.child('ipFamilies');
const POLICY = SPEC.child('ipFamilyPolicy');
const KNOWN_FAMILIES = ['IPv4', 'IPv6'];
const KNOWN_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export function validateClusterIps(
  object: Readonly<Service>,
  old: Readonly<Service> | undefined,
  strict: boolean,
): FieldErrors {
  if (!needsClusterIp(object)) return [];
  const errors = [...validateSingular(object), ...validateFamilies(object)];
  const ips = validateAddresses(object, old, strict);
  append(errors, ips.errors);
  const addresses = object.spec.clusterIPs ?? [];
  if (addresses.length > 2) errors.push(invalid(CLUSTER_IPS, addresses, 'may only hold up to 2 values'));
  // Rules about pairs of addresses would only confuse while one of them is none.
  if (ips.bad) return errors;
  if (addresses.length > 1) append(errors, validatePair(addresses));
  if (!isHeadless(object)) append(errors, matchFamilies(object));
  return errors;
}

/** `None` passes for an address where it has stood before. */
function validatePair(addresses: readonly string[]): FieldErrors {
  const errors: FieldErrors = [];
  const families = addresses.map((address) => parseIp(address)?.family);
  const bad = families.indexOf(undefined);
  if (bad >= 0) {
    const why = `invalid IP[${bad}]: ${addresses[bad]}`;
    errors.push(internal(CLUSTER_IPS, `failed to check for dual stack with error:${why}`));
  }
  if (bad >= 0 || new Set(families).size < 2) {
    errors.push(invalid(CLUSTER_IPS, addresses, 'may specify no more than one IP for each IP family'));
  }
  return errors;
}

export function validateClusterIpsUpdate(object: Readonly<Service>, old: Readonly<Service>): FieldErrors {
  if (!needsClusterIp(object) || !needsClusterIp(old)) return [];
  return [...keepAddresses(object, old), ...keepFamilies(object, old)];
}

function validateSingular({ spec }: Readonly<Service>): FieldErrors {
  const addresses = spec.clusterIPs ?? [];
  if (spec.clusterIP) {
    if (addresses.length === 0) return [required(CLUSTER_IPS)];
    if (addresses[0] === spec.clusterIP) return [];
    return [invalid(CLUSTER_IPS, addresses, 'first value must match `clusterIP`')];
  }
  return addresses.length === 0
    ? []
    : [invalid(CLUSTER_IPS, addresses, 'must be empty when `clusterIP` is not specified')];
}

function validateFamilies({ spec }: Readonly<Service>): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, family] of (spec.ipFamilies ?? []).entries()) {
    if (!KNOWN_FAMILIES.includes(family)) errors.push(notSupported(FAMILIES.index(position), family, KNOWN_FAMILIES));
    if (seen.has(family)) errors.push(duplicate(FAMILIES.index(position), named(family)));
    seen.add(family);
  }
  const policy = spec.ipFamilyPolicy;
  if (policy !== undefined && !KNOWN_POLICIES.includes(policy))
    errors.push(notSupported(POLICY, policy, KNOWN_POLICIES));
  return errors;
}

function validateAddresses(
  { spec }: Readonly<Service>,
  old: Readonly<Service> | undefined,
  strict: boolean,
): { errors: FieldErrors; bad: boolean } {
  const addresses = spec.clusterIPs ?? [];
  const errors: FieldErrors = [];
  const before = new Set(old?.spec.clusterIPs);
  for (const [position, ip] of addresses.entries()) {
    if (position === 0 && ip === HEADLESS) {
      if (addresses.length > 1) {
        errors.push(invalid(CLUSTER_IPS, addresses, "'None' must be the first and only value"));
      }
      continue;
    }
    append(errors, isValidIpForLegacyField(CLUSTER_IPS.index(position), ip, { strict, old: before }));
  }
  return { errors, bad: errors.length > 0 };
}

function matchFamilies({ spec }: Readonly<Service>): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, ip] of (spec.clusterIPs ?? []).entries()) {
    const family = spec.ipFamilies?.[position];
    if ((family !== 'IPv4' && family !== 'IPv6') || familyOf(ip) === family) continue;
    const why = `expected an ${family} value as indicated by \`ipFamilies[${position}]\``;
    errors.push(invalid(CLUSTER_IPS.index(position), ip, why));
  }
  return errors;
}

/** The first address never changes; a second may come and, with a single-stack policy, go. */
function keepAddresses(object: Readonly<Service>, old: Readonly<Service>): FieldErrors {
  if (isHeadless(object) && isHeadless(old)) return [];
  const now = object.spec.clusterIPs ?? [];
  const before = old.spec.clusterIPs ?? [];
  const changed = (position: number): FieldErrors => [
    invalid(CLUSTER_IPS.index(position), now, 'may not change once set'),
  ];
  if (before.length === now.length) {
    return before.flatMap((ip, position) => (ip === now[position] ? [] : changed(position)));
  }
  const errors: FieldErrors = [];
  const released = before.length > now.length;
  if (released && now.length === 0) {
    errors.push(invalid(CLUSTER_IPS.index(0), object.spec.clusterIPs, 'primary clusterIP can not be unset'));
  }
  if (before.length > 0 && now.length > 0 && now[0] !== before[0]) append(errors, changed(0));
  if (released && now.length === 1 && object.spec.ipFamilyPolicy !== 'SingleStack') {
    const why = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.push(invalid(POLICY, named(object.spec.ipFamilyPolicy), why));
  }
  return errors;
}

function keepFamilies(object: Readonly<Service>, old: Readonly<Service>): FieldErrors {
  if (isHeadless(object) || isHeadless(old)) return [];
  const now = object.spec.ipFamilies ?? [];
  const before = old.spec.ipFamilies ?? [];
  const first = FAMILIES.index(0);
  if (before.length === now.length) {
    return before.flatMap((family, position) =>
      family === now[position] ? [] : [invalid(first, now, 'may not change once set')],
    );
  }
  const errors: FieldErrors = [];
  const released = before.length > now.length;
  if (released && (object.spec.clusterIPs ?? []).length === 0) {
    errors.push(invalid(first, object.spec.ipFamilies, 'primary ipFamily can not be unset'));
  }
  if (before.length > 0 && now.length > 0 && now[0] !== before[0]) {
    errors.push(invalid(first, object.spec.clusterIPs, 'may not change once set'));
  }
  if (released && now.length === 1 && object.spec.ipFamilyPolicy !== 'SingleStack') {
    const why = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    errors.push(invalid(POLICY, named(object.spec.ipFamilyPolicy), why));
  }
  return errors;
}
