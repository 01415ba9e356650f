import { append } from '../../../../lib/values/append.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../../machinery/field-error.js';
import { validateLabelName, validateLabelSelector } from '../../../../machinery/validation/label-selector.js';
import type { LabelSelector } from '../../../../schema/generated/meta.v1.js';
import type { TopologySpreadConstraint } from '../../../../schema/generated/core.v1.js';
import type { PodRules } from './pod-rules.js';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const NODE_POLICIES = ['Honor', 'Ignore'];
const IN_BOTH = 'exists in both matchLabelKeys and labelSelector';

export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  if (constraints === undefined) return [];
  const errors: FieldErrors = [];
  const last = new Map(constraints.map((constraint, position) => [identityOf(constraint), position]));
  for (const [position, constraint] of constraints.entries()) {
    const at = path.index(position);
    if (constraint.maxSkew <= 0) {
      errors.push(invalid(at.child('maxSkew'), constraint.maxSkew, 'must be greater than zero'));
    }
    if (constraint.topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'));
    if (!ACTIONS.includes(constraint.whenUnsatisfiable)) {
      errors.push(notSupported(at.child('whenUnsatisfiable'), constraint.whenUnsatisfiable, ACTIONS));
    }
    if (last.get(identityOf(constraint)) !== position) {
      const shown = `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`;
      errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), shown));
    }
    append(
      errors,
      validateMinDomains(constraint, at.child('minDomains')),
      validateNodePolicy(constraint.nodeAffinityPolicy, at.child('nodeAffinityPolicy')),
      validateNodePolicy(constraint.nodeTaintsPolicy, at.child('nodeTaintsPolicy')),
      matchLabelKeysErrors(constraint, checksMergedKeys(rules), at),
    );
    if (!rules.allowInvalidSpreadSelector) {
      append(errors, validateLabelSelector(constraint.labelSelector, {}, at.child('labelSelector')));
    }
  }
  return errors;
}

/** The rules of `matchLabelKeys`: those for keys that are merged into the selector, or those from before merging. */
export function matchLabelKeysErrors(
  { matchLabelKeys, labelSelector }: Readonly<TopologySpreadConstraint>,
  merged: boolean,
  path: FieldPath = FieldPath.of('topologySpreadConstraints'),
): FieldErrors {
  if (merged) return validateMatchLabelKeys(matchLabelKeys, undefined, labelSelector, path);
  if (!matchLabelKeys || matchLabelKeys.length === 0) return [];
  const keysPath = path.child('matchLabelKeys');
  const errors: FieldErrors = [];
  if (!labelSelector) errors.push(forbidden(keysPath, 'must not be specified when labelSelector is not set'));
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  for (const [position, key] of matchLabelKeys.entries()) {
    append(errors, validateLabelName(key, keysPath.index(position)));
    if (selected.has(key)) errors.push(invalid(keysPath.index(position), key, IN_BOTH));
  }
  return errors;
}

/** The rules of `matchLabelKeys` and `mismatchLabelKeys` beside a selector, which pod affinity has too. */
export function validateMatchLabelKeys(
  matchLabelKeys: readonly string[] | undefined,
  mismatchLabelKeys: readonly string[] | undefined,
  selector: Readonly<LabelSelector> | undefined,
  path: FieldPath,
): FieldErrors {
  if (!matchLabelKeys && !mismatchLabelKeys) return [];
  const errors = [
    ...validateKeys(matchLabelKeys, selector, path.child('matchLabelKeys')),
    ...validateKeys(mismatchLabelKeys, selector, path.child('mismatchLabelKeys')),
  ];
  // A key merged into the selector stands there once, as an expression: twice means the user wrote it too.
  const selected = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const { key } of selector?.matchExpressions ?? []) {
    const position = matchLabelKeys?.lastIndexOf(key) ?? -1;
    if (position >= 0 && selected.has(key)) errors.push(invalid(path.index(position), key, IN_BOTH));
    selected.add(key);
  }
  for (const [position, key] of (matchLabelKeys ?? []).entries()) {
    if (mismatchLabelKeys?.includes(key)) {
      const at = path.child('matchLabelKeys').index(position);
      errors.push(invalid(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  }
  return errors;
}

function validateKeys(
  keys: readonly string[] | undefined,
  selector: Readonly<LabelSelector> | undefined,
  path: FieldPath,
): FieldErrors {
  if (!keys || keys.length === 0) return [];
  if (!selector) return [forbidden(path, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, position) => validateLabelName(key, path.index(position)));
}

const checksMergedKeys = (rules: PodRules): boolean =>
  rules.spreadMatchLabelKeys && rules.mergeMatchLabelKeys !== rules.oldBreaksMatchLabelKeys;

const identityOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string =>
  `${whenUnsatisfiable}\0${topologyKey}`;

function validateMinDomains({ minDomains, whenUnsatisfiable }: TopologySpreadConstraint, path: FieldPath): FieldErrors {
  if (minDomains === undefined) return [];
  const errors: FieldErrors = [];
  if (minDomains <= 0) errors.push(invalid(path, minDomains, 'must be greater than zero'));
  if (whenUnsatisfiable !== 'DoNotSchedule') {
    const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
    errors.push(invalid(path, minDomains, why));
  }
  return errors;
}

const validateNodePolicy = (policy: string | undefined, path: FieldPath): FieldErrors =>
  policy === undefined || NODE_POLICIES.includes(policy) ? [] : [notSupported(path, policy, NODE_POLICIES)];
