import { ownMember } from '../../../lib/values/plain-object.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { Pod } from '../../../schema/generated/core.v1.js';
import type { LabelSelector } from '../../../schema/generated/meta.v1.js';
import { podAffinityTerms } from './validation/affinity.js';

/** Converts keys, whose values are the pod's own, to requirements of the selectors beside them, once, on creation. */
export function mergeLabelKeys(pod: Pod, features: FeatureGates): void {
  const labels = pod.metadata.labels ?? {};
  if (features.enabled('MatchLabelKeysInPodAffinity')) {
    for (const { labelSelector, matchLabelKeys, mismatchLabelKeys } of podAffinityTerms(pod.spec)) {
      merge(labelSelector, matchLabelKeys, 'In', labels);
      merge(labelSelector, mismatchLabelKeys, 'NotIn', labels);
    }
  }
  const merged =
    features.enabled('MatchLabelKeysInPodTopologySpread') &&
    features.enabled('MatchLabelKeysInPodTopologySpreadSelectorMerge');
  if (!merged) return;
  for (const { labelSelector, matchLabelKeys } of pod.spec.topologySpreadConstraints ?? []) {
    merge(labelSelector, matchLabelKeys, 'In', labels);
  }
}

function merge(
  selector: LabelSelector | undefined,
  keys: readonly string[] | undefined,
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): void {
  // Without a selector nothing is matched, and nothing need be added.
  if (!selector) return;
  for (const key of keys ?? []) {
    const value = ownMember(labels, key);
    if (value !== undefined) (selector.matchExpressions ??= []).push({ key, operator, values: [value] });
  }
}
