import { LabelSelector, labelSelectorAsSelector } from '../../machinery/label-selector.js';
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../schema/generated/core.v1.js';

/** All scopes of a quota; an object has to be in each. */
export const scopesOf = ({ spec }: Readonly<ResourceQuota>): readonly ScopedResourceSelectorRequirement[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
];

/** Whether the scope's operator and values hold for a value; undefined when the object has none. */
export function scopeSelects(
  { scopeName, operator, values }: ScopedResourceSelectorRequirement,
  value: string | undefined,
): boolean {
  const expression = { key: scopeName, operator, values: values ?? [] };
  const selector: LabelSelector = labelSelectorAsSelector({ matchExpressions: [expression] });
  return selector.matches(value === undefined ? {} : { [scopeName]: value });
}
