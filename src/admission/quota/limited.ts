// What may only be used where a quota covers it (the plugin's own configuration).
import type { KubeObject } from '../../machinery/object.js';
import { quantitySign } from '../../machinery/quantity.js';
import { StatusError } from '../../machinery/status.js';
import type { ResourceList, ScopedResourceSelectorRequirement } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { QuotaEvaluator } from './evaluator.js';

export interface LimitedResource {
  readonly apiGroup?: string;
  readonly resource: string;
  /** Parts of names of what is used. */
  readonly matchContains?: readonly string[];
  readonly matchScopes?: readonly ScopedResourceSelectorRequirement[];
}

/** What the quotas that have a say speak of. */
export interface Covered {
  readonly names: ReadonlySet<string>;
  readonly scopes: readonly ScopedResourceSelectorRequirement[];
}

export interface CoverageCheck {
  readonly attributes: AdmissionAttributes;
  readonly evaluator: QuotaEvaluator;
  readonly object: Readonly<KubeObject>;
  readonly usage: Readonly<ResourceList>;
  readonly covered: Covered;
}

/** Throws a StatusError for a write that uses what no quota covers. */
export function checkCovered(
  limited: readonly LimitedResource[],
  { attributes, evaluator, object, usage, covered }: CoverageCheck,
): void {
  const { group, resource } = attributes.resource;
  const parts = limited
    .filter((each) => each.resource === resource && (each.apiGroup ?? '') === group)
    .flatMap(({ matchContains = [] }) => matchContains);
  const used = Object.keys(usage).filter((name) => quantitySign(usage[name] ?? '0') > 0);
  const uncovered = used.filter((name) => parts.some((part) => name.includes(part)) && !covered.names.has(name));
  if (uncovered.length > 0) {
    throw forbid(attributes, `insufficient quota to consume: ${uncovered.sort().join(',')}`);
  }
  const scopes = limited
    .flatMap(({ matchScopes = [] }) => matchScopes)
    .filter((scope) => evaluator.matchesScope?.(scope, object, attributes.context) === true)
    .filter(({ scopeName }) => !covered.scopes.some((scope) => scope.scopeName === scopeName));
  if (scopes.length > 0) {
    const shown = scopes.map(
      ({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`,
    );
    throw new StatusError(500, '', `insufficient quota to match these scopes: [${shown.join(' ')}]`);
  }
}
