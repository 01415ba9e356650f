// Whether a pod may be put on a node: by its selectors and by what the node repels. Nothing is measured.
import { ownMember } from '../../lib/values/plain-object.js';
import { type LabelOperator, type Labels, requirementMatches } from '../../machinery/label-requirement.js';
import type {
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  Taint,
  Toleration,
} from '../../schema/generated/core.v1.js';

/** Why not, in the scheduler's words; undefined when it may. */
export function misfit(pod: Readonly<Pod>, node: Readonly<Node>): string | undefined {
  const { spec } = pod;
  if (node.spec.unschedulable === true && !tolerates(spec.tolerations, UNSCHEDULABLE)) {
    return 'node(s) were unschedulable';
  }
  const repelling = untolerated(spec.tolerations, node);
  if (repelling !== undefined) return 'node(s) had untolerated taint(s)';
  return matchesNode(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** A taint that keeps pods with these tolerations away. */
const untolerated = (tolerations: readonly Toleration[] | undefined, node: Readonly<Node>): Taint | undefined =>
  node.spec.taints?.find((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(tolerations, taint));

function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key === '') return operator === 'Exists';
    return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''));
  });
}

function matchesNode({ spec }: Pick<Readonly<Pod>, 'spec'>, node: Readonly<Node>): boolean {
  const labels = node.metadata.labels ?? {};
  if (Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms === null || terms.some((term) => matchesTerm(term, node));
}

function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { metadata }: Readonly<Node>,
): boolean {
  // A term without requirements matches nothing.
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { 'metadata.name': metadata.name ?? '' };
  return (
    matchExpressions.every((one) => matches(one, metadata.labels ?? {})) &&
    matchFields.every((one) => matches(one, fields))
  );
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

function matches({ key, operator: name, values }: NodeSelectorRequirement, labels: Labels): boolean {
  const operator = ownMember(OPERATORS, name);
  return operator !== undefined && requirementMatches({ key, operator, values: values ?? [] }, labels);
}
