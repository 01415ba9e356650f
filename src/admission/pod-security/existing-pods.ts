import { goQuote } from '../../lib/go/quote.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { LifeContext } from '../../registry/kind.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { loadedAll } from '../../storage/store.js';
import type { CheckedPod } from './check.js';
import { evaluatePod } from './evaluate.js';
import { type LevelVersion, policyText } from './policy.js';

const PODS = { group: '', resource: 'pods' };
const MAX_PODS = 3000;
const MAX_MS = 1000;
const CHECKED_AT_ONCE = 16;

/** Warnings about the existing pods that a namespace's new level would refuse. */
export async function existingPodWarnings(
  namespace: string,
  enforce: LevelVersion,
  context: LifeContext,
  isExempt: (pod: CheckedPod) => boolean,
): Promise<readonly string[]> {
  const all = (await loadedAll(await context.lookup.list(PODS, namespace))) as Pod[];
  const pods = differentFirst(all.filter((pod) => !isExempt(pod)));
  const yielder = new Yielder();
  const deadlineMs = context.now().getTime() + MAX_MS;
  const found = new Map<string, string[]>();
  let checked = 0;
  for (const pod of pods.slice(0, MAX_PODS)) {
    checked++;
    const violations = evaluatePod(enforce, pod, context.features);
    if (violations.length > 0) {
      const why = violations.map(({ reason }) => reason).join(', ');
      const names = found.get(why) ?? [];
      found.set(why, names);
      names.push(pod.metadata.name ?? '');
    }
    if (context.now().getTime() > deadlineMs) break;
    if (checked % CHECKED_AT_ONCE === 0) await yielder.yieldIfDue();
  }
  const warnings: string[] = [];
  if (checked < pods.length) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`,
    );
  }
  if (found.size > 0) {
    const level = goQuote(policyText(enforce));
    warnings.push(
      `existing pods in namespace ${goQuote(namespace)} violate the new PodSecurity enforce level ${level}`,
    );
  }
  return [...warnings, ...[...found].map(([why, names]) => `${podsText(names)}: ${why}`).sort()];
}

/** Replicas of one controller are alike, so one of each comes before its siblings. */
function differentFirst(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>();
  const siblings: Pod[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner === undefined) return true;
    if (seen.has(owner)) {
      siblings.push(pod);
      return false;
    }
    seen.add(owner);
    return true;
  });
  return [...first, ...siblings];
}

function podsText(names: readonly string[]): string {
  const [first = ''] = [...names].sort();
  const others = names.length - 1;
  if (others === 0) return first;
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}
