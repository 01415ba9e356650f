// Decides the families of a service's addresses from what the client said, what it had before and what the cluster
// can give; refuses what does not fit together.
import { append } from '../../../lib/values/append.js';
import { keysOf } from '../../../lib/values/key-cache.js';
import { type FieldErrors, FieldPath, invalid, named } from '../../../machinery/field-error.js';
import { invalid as invalidObject } from '../../../machinery/status.js';
import type { Service } from '../../../schema/generated/core.v1.js';
import { validateClusterIps } from './cluster-ip-validation.js';
import { familyOf, HEADLESS, type IpFamily, needsClusterIp, otherFamily, sameList } from './service-rules.js';

const SPEC = FieldPath.of('spec');
const POLICY = SPEC.child('ipFamilyPolicy');

export interface FamilyRules {
  /** The families the cluster has, the default first. */
  readonly families: readonly IpFamily[];
  readonly strict: boolean;
}

export function settleIpFamilies(object: Service, old: Readonly<Service> | undefined, rules: FamilyRules): void {
  if (!needsClusterIp(object) || isUnchangedPreference(object, old)) return;
  const { spec } = object;
  spec.ipFamilyPolicy ??= defaultPolicy(object, old);
  refuse(object, validateClusterIps(object, old, rules.strict));

  const errors: FieldErrors = [];
  if (old !== undefined) append(errors, settleRelease(object, old));
  append(errors, singleStackErrors(object), inferFamilies(object, rules));
  refuse(object, errors);

  if (isSelectorlessHeadless(object)) {
    // Nobody knows the families of endpoints that someone else fills in: both are assumed, on any cluster.
    spec.ipFamilies = withSecondFamily(object, rules.families[0], true);
    return;
  }
  refuse(object, clusterErrors(object, rules));
  spec.ipFamilies = withSecondFamily(object, rules.families[0], rules.families.length === 2);
}

/**
 * A service that merely prefers two families keeps what it has, also after the cluster gained or lost one, until its
 * policy, addresses or families are changed.
 */
export function isUnchangedPreference(object: Readonly<Service>, old: Readonly<Service> | undefined): boolean {
  if (old === undefined) return false;
  const { spec } = object;
  return (
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (old.spec.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    spec.type === old.spec.type &&
    ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(spec.type ?? '') &&
    sameList(spec.clusterIPs, old.spec.clusterIPs) &&
    sameList(spec.ipFamilies, old.spec.ipFamilies)
  );
}

function defaultPolicy({ spec }: Readonly<Service>, old: Readonly<Service> | undefined): string {
  if (old?.spec.ipFamilyPolicy !== undefined) return old.spec.ipFamilyPolicy;
  return isSelectorlessHeadless({ spec }) ? 'RequireDualStack' : 'SingleStack';
}

// Selectors may have very many names, so they are listed only for the few services that need them.
const isSelectorlessHeadless = ({ spec }: Pick<Service, 'spec'>): boolean =>
  spec.clusterIP === HEADLESS && keysOf(spec.selector ?? {}).length === 0;

/** Requesting one family releases the second address; removing the address without that is refused. */
function settleRelease({ spec }: Service, old: Readonly<Service>): FieldErrors {
  const ips = spec.clusterIPs ?? [];
  const families = spec.ipFamilies ?? [];
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (sameList(ips, old.spec.clusterIPs) && ips.length > 1) spec.clusterIPs = ips.slice(0, 1);
    if (sameList(families, old.spec.ipFamilies) && families.length > 1) spec.ipFamilies = families.slice(0, 1);
    return [];
  }
  const errors: FieldErrors = [];
  const fewer = (now: readonly string[], before: readonly string[] | undefined): boolean =>
    now.length > 0 && now.length < (before ?? []).length;
  if (fewer(ips, old.spec.clusterIPs)) {
    errors.push(
      invalid(POLICY, named(spec.ipFamilyPolicy), "must be 'SingleStack' to release the secondary cluster IP"),
    );
  }
  if (fewer(families, old.spec.ipFamilies)) {
    errors.push(
      invalid(POLICY, named(spec.ipFamilyPolicy), "must be 'SingleStack' to release the secondary IP family"),
    );
  }
  return errors;
}

function singleStackErrors({ spec }: Readonly<Service>): FieldErrors {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  const errors: FieldErrors = [];
  const needsTwo = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (spec.clusterIPs?.length === 2) {
    errors.push(invalid(POLICY, spec.ipFamilyPolicy, `${needsTwo} cluster IPs are specified`));
  }
  if (spec.ipFamilies?.length === 2) {
    errors.push(invalid(POLICY, spec.ipFamilyPolicy, `${needsTwo} IP families are specified`));
  }
  return errors;
}

/** Addresses the client chose say their family. */
function inferFamilies({ spec }: Service, { families }: FamilyRules): FieldErrors {
  const errors: FieldErrors = [];
  const known = [...(spec.ipFamilies ?? [])];
  for (const [position, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === HEADLESS) break;
    if (position < known.length) continue;
    const family = familyOf(ip);
    if (families.includes(family)) known.push(family);
    else {
      const path = SPEC.child('clusterIPs').index(position);
      errors.push(invalid(path, spec.clusterIPs, `${family} is not configured on this cluster`));
    }
  }
  if (known.length > 0) spec.ipFamilies = known;
  return errors;
}

function clusterErrors({ spec }: Readonly<Service>, { families }: FamilyRules): FieldErrors {
  const errors: FieldErrors = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && families.length < 2) {
    const why = 'this cluster is not configured for dual-stack services';
    errors.push(invalid(POLICY, spec.ipFamilyPolicy, why));
  }
  for (const [position, family] of (spec.ipFamilies ?? []).entries()) {
    if (families.some((configured) => configured === family)) continue;
    errors.push(invalid(SPEC.child('ipFamilies').index(position), named(family), 'not configured on this cluster'));
  }
  return errors;
}

function withSecondFamily({ spec }: Readonly<Service>, primary: IpFamily | undefined, twoPossible: boolean): string[] {
  const families = (spec.ipFamilies ?? []).length > 0 ? [...(spec.ipFamilies ?? [])] : [primary ?? 'IPv4'];
  const wantsTwo = spec.ipFamilyPolicy !== 'SingleStack' && twoPossible;
  if (families.length === 1 && wantsTwo) families.push(otherFamily(families[0]));
  return families;
}

function refuse(object: Readonly<Service>, errors: FieldErrors): void {
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'Service' }, object.metadata.name ?? '', errors);
}
