// One write against the quotas of its namespace.
import { ownMember } from '../../lib/values/plain-object.js';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  quantitySign,
  subtractQuantities,
} from '../../machinery/quantity.js';
import type { KubeObject } from '../../machinery/object.js';
import type { ResourceList, ResourceQuota } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { QuotaEvaluator } from './evaluator.js';
import { checkCovered, type LimitedResource } from './limited.js';
import { scopesOf } from './scope.js';

type Amounts = Readonly<ResourceList>;

/** What a quota would count as used once the write is done. Throws a 403 StatusError when that is too much. */
export interface NewUsage {
  readonly quota: Readonly<ResourceQuota>;
  readonly used: Amounts;
}

/** The quotas the write changes, in order; the others are not in the answer. */
export function checkRequest(
  quotas: readonly Readonly<ResourceQuota>[],
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
): readonly NewUsage[] {
  const { object, old, operation, context } = attributes;
  if (object === undefined) return [];
  const concerned = quotas.filter((quota) => concerns(quota, attributes, evaluator, object));
  const usage = evaluator.usage(object, context);
  if (limited.length > 0) {
    const names = new Set(concerned.flatMap((quota) => countedNames(quota, evaluator)));
    const scopes = quotas
      .flatMap(scopesOf)
      .filter((scope) => evaluator.matchesScope?.(scope, object, context) === true);
    checkCovered(limited, { attributes, evaluator, object, usage, covered: { names, scopes } });
  }
  const negative = Object.keys(usage).filter((name) => quantitySign(usage[name] ?? '0') < 0);
  if (negative.length > 0) {
    throw forbid(attributes, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  const before = operation === 'UPDATE' && old !== undefined ? evaluator.usage(old, context) : undefined;
  return concerned.flatMap((quota) => {
    const counted = before !== undefined && old !== undefined && matches(quota, attributes, evaluator, old);
    const delta = positive(counted ? subtract(usage, before) : usage);
    if (Object.keys(delta).length === 0) return [];
    return [{ quota, used: charge(quota, delta, attributes) }];
  });
}

/** A quota that speaks of what the object uses, and holds for its scope, has a say. */
function concerns(
  quota: Readonly<ResourceQuota>,
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  object: Readonly<KubeObject>,
): boolean {
  if (!matches(quota, attributes, evaluator, object)) return false;
  const name = quota.metadata.name ?? '';
  const names = countedNames(quota, evaluator);
  const missing = evaluator.missing?.(names, object, attributes.context);
  if (missing !== undefined) throw forbid(attributes, `failed quota: ${name}: ${missing}`);
  if (names.some((counted) => quota.status.used?.[counted] === undefined)) {
    throw forbid(attributes, `status unknown for quota: ${name}, resources: ${names.sort().join(',')}`);
  }
  return true;
}

const countedNames = ({ status }: Readonly<ResourceQuota>, evaluator: QuotaEvaluator): string[] =>
  Object.keys(status.hard ?? {}).filter((name) => evaluator.counts(name));

const matches = (
  quota: Readonly<ResourceQuota>,
  { context }: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  object: Readonly<KubeObject>,
): boolean =>
  countedNames(quota, evaluator).length > 0 &&
  scopesOf(quota).every((scope) => evaluator.matchesScope?.(scope, object, context) === true);

function charge(quota: Readonly<ResourceQuota>, delta: Amounts, attributes: AdmissionAttributes): Amounts {
  const { hard = {}, used = {} } = quota.status;
  const requested = Object.keys(delta).filter((name) => ownMember(hard, name) !== undefined);
  const after: ResourceList = { ...used };
  for (const name of requested) after[name] = sum(ownMember(used, name), delta[name] ?? '0');
  // Who reports what was allocated already is not stopped by it.
  if (attributes.subresource === 'status') return after;
  const exceeded = requested.filter((name) => compareQuantities(after[name] ?? '0', hard[name] ?? '0') > 0);
  if (exceeded.length === 0) return after;
  const text = (amounts: Amounts): string =>
    [...exceeded]
      .sort()
      .flatMap((name) => (amounts[name] === undefined ? [] : [`${name}=${amounts[name]}`]))
      .join(',');
  const name = quota.metadata.name ?? '';
  throw forbid(
    attributes,
    `exceeded quota: ${name}, requested: ${text(delta)}, used: ${text(used)}, limited: ${text(hard)}`,
  );
}

const sum = (so: string | undefined, more: string): string =>
  so === undefined ? more : formatQuantity(addQuantities(so, more));

function subtract(left: Amounts, right: Amounts): Amounts {
  const difference = ([name, quantity]: [string, string]): [string, string] => {
    const less = ownMember(right, name);
    return [name, less === undefined ? quantity : formatQuantity(subtractQuantities(quantity, less))];
  };
  return Object.fromEntries(Object.entries(left).map(difference));
}

/** What is freed is left to whoever counts anew, so that nothing is ever counted as free twice. */
const positive = (amounts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([, quantity]) => quantitySign(quantity) > 0));
