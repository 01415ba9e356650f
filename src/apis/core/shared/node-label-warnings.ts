import type { FieldPath } from '../../../machinery/field-error.js';
import { isValidLabelValue } from '../../../machinery/validation/names.js';
import type { NodeSelectorTerm } from '../../../schema/generated/core.v1.js';

/** Labels of nodes that have newer names, with what to say about their use. */
export const DEPRECATED_NODE_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

export function nodeSelectorTermWarnings(
  term: Readonly<NodeSelectorTerm>,
  checkValues: boolean,
  path: FieldPath,
): string[] {
  const warnings: string[] = [];
  for (const [position, { key, values }] of (term.matchExpressions ?? []).entries()) {
    const at = path.child('matchExpressions').index(position);
    const message = DEPRECATED_NODE_LABELS.get(key);
    if (message !== undefined) warnings.push(`${at.child('key').toString()}: ${key} is ${message}`);
    if (!checkValues) continue;
    for (const [index, value] of (values ?? []).entries()) {
      for (const why of isValidLabelValue(value)) {
        warnings.push(`${at.child('values').index(index).toString()}: ${value} is invalid, ${why}`);
      }
    }
  }
  return warnings;
}
