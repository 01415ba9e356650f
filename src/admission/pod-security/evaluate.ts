import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { FeatureGates } from '../../registry/kind.js';
import { baselineChecks } from './baseline.js';
import type { CheckedPod, PodCheck, VersionedCheck, Violation } from './check.js';
import type { LevelVersion } from './policy.js';
import { restrictedChecks } from './restricted.js';

/** Everything about a pod that a level, as it stood in a version, does not allow. */
export const evaluatePod = (policy: LevelVersion, pod: CheckedPod, features: FeatureGates): readonly Violation[] =>
  runSync(evaluationSteps(policy, pod, features));

/** evaluatePod() in steps, for a pod of very many containers. */
export function* evaluationSteps(
  { level, minor }: LevelVersion,
  pod: CheckedPod,
  features: FeatureGates,
): StepGenerator<readonly Violation[]> {
  if (level === 'privileged') return [];
  const found: Violation[] = [];
  for (const check of checksOf(level, Math.min(minor, NEWEST_MINOR))) {
    const violation = check(pod, features);
    if (violation !== undefined) found.push(violation);
    yield;
  }
  return found;
}

/** `reason (detail), reason (detail)`. */
export const violationsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** The last version that changed any check; later ones are the same. */
const NEWEST_MINOR = [...baselineChecks, ...restrictedChecks]
  .flatMap(({ rules }) => rules.map(({ sinceMinor }) => sinceMinor))
  .reduce((a, b) => Math.max(a, b));

const known = new Map<string, readonly PodCheck[]>();

function checksOf(level: 'baseline' | 'restricted', minor: number): readonly PodCheck[] {
  const key = `${level}:${minor}`;
  let checks = known.get(key);
  if (checks === undefined) {
    checks = collect(level, minor);
    known.set(key, checks);
  }
  return checks;
}

/** The baseline's rules come first, without those a stricter rule stands for. */
function collect(level: 'baseline' | 'restricted', minor: number): readonly PodCheck[] {
  const stricter = level === 'restricted' ? restrictedChecks.flatMap((check) => ruleAt(check, minor) ?? []) : [];
  const replaced = new Set(stricter.map(({ replaces }) => replaces));
  const base = baselineChecks.filter(({ id }) => !replaced.has(id)).flatMap((check) => ruleAt(check, minor) ?? []);
  return [...base, ...stricter].map(({ check }) => check);
}

const ruleAt = ({ rules }: VersionedCheck, minor: number): VersionedCheck['rules'][number] | undefined =>
  rules.findLast(({ sinceMinor }) => sinceMinor <= minor);
