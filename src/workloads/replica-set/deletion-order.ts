// Which pods go first when there are too many: those that are missed least.
import type { Pod } from '../../schema/generated/core.v1.js';
import { isReady, restartsOf } from '../pod/pod-state.js';

const COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/** Compared one after another; what is smaller goes first. */
const RANKS: readonly ((pod: Readonly<Pod>) => number)[] = [
  ({ spec }) => (spec.nodeName ? 1 : 0),
  ({ status }) => (status.phase === 'Running' ? 1 : 0),
  (pod) => (isReady(pod) ? 1 : 0),
  ({ metadata }) => Number(metadata.annotations?.[COST_ANNOTATION] ?? 0) || 0,
  (pod) => -restartsOf(pod),
  ({ metadata }) => -Date.parse(metadata.creationTimestamp ?? ''),
];

export function firstToDelete(pods: readonly Readonly<Pod>[], count: number): Readonly<Pod>[] {
  const ranked = pods.map((pod) => ({ pod, ranks: RANKS.map((rank) => rank(pod)) }));
  ranked.sort((a, b) => {
    const differing = a.ranks.findIndex((rank, i) => rank !== b.ranks[i]);
    return differing < 0 ? 0 : (a.ranks[differing] ?? 0) - (b.ranks[differing] ?? 0);
  });
  return ranked.slice(0, count).map(({ pod }) => pod);
}
