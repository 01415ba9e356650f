// Who of the candidates is best, and by what strategy: the rules of coordinated leader election.
import {
  compareSemanticVersions,
  parseSemanticVersion,
  type SemanticVersion,
} from '../../apis/coordination/semantic-version.js';
import type { Lease } from '../../schema/generated/coordination.v1.js';
import type { LeaseCandidate } from '../../schema/generated/coordination.v1beta1.js';
import { microseconds } from './micro-time.js';

export type Candidate = Readonly<LeaseCandidate>;

const MINUTE_MS = 60_000;
/** How long a candidate that renews no more is one. */
export const CANDIDATE_VALID_MS = 30 * MINUTE_MS;

const NO_VERSION: SemanticVersion = { numbers: [0n, 0n, 0n], prerelease: [] };

/** The candidate that behaves as the oldest release, and of several the one of the oldest program, then the oldest. */
export function oldestEmulation(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates
    .filter(({ spec }) => [spec.emulationVersion, spec.binaryVersion].every((text) => readVersion(text) !== undefined))
    .reduce<Candidate | undefined>(
      (best, each) => (best === undefined || isBetter(each, best) ? each : best),
      undefined,
    );
}

function isBetter({ metadata, spec }: Candidate, than: Candidate): boolean {
  const order =
    compareSemanticVersions(versionOf(spec.emulationVersion), versionOf(than.spec.emulationVersion)) ||
    compareSemanticVersions(versionOf(spec.binaryVersion), versionOf(than.spec.binaryVersion));
  if (order !== 0) return order < 0;
  return (metadata.creationTimestamp ?? '') < (than.metadata.creationTimestamp ?? '');
}

/** What the candidates of the newest program say; those of one version must agree. */
export function strategyOf(candidates: readonly Candidate[]): string {
  let [chosen] = candidates;
  if (chosen === undefined) throw new Error('no candidates');
  for (const each of candidates.slice(1)) {
    const order = compareSemanticVersions(versionOf(chosen.spec.binaryVersion), versionOf(each.spec.binaryVersion));
    if (order === 0 && each.spec.strategy !== chosen.spec.strategy) {
      const names = `"${chosen.metadata.name}", "${each.metadata.name}"`;
      const strategies = `${chosen.spec.strategy}, ${each.spec.strategy}`;
      throw new Error(`candidates ${names} at same binary version but received differing strategies ${strategies}`);
    }
    if (order < 0) chosen = each;
  }
  return chosen.spec.strategy ?? '';
}

export const isLeaseExpired = ({ spec }: Readonly<Lease>, nowMs: number): boolean =>
  spec.renewTime === undefined ||
  spec.leaseDurationSeconds === undefined ||
  microseconds(spec.renewTime) + spec.leaseDurationSeconds * 1e6 < nowMs * 1000;

export const isCandidateExpired = ({ spec }: Candidate, nowMs: number): boolean =>
  spec.renewTime === undefined || isPast(spec.renewTime, CANDIDATE_VALID_MS, nowMs);

/** Whether this much time has gone by since. */
export const isPast = (time: string, ms: number, nowMs: number): boolean =>
  microseconds(time) + ms * 1000 < nowMs * 1000;

const readVersion = (text = ''): SemanticVersion | undefined => parseSemanticVersion(text);
const versionOf = (text: string | undefined): SemanticVersion => readVersion(text) ?? NO_VERSION;
