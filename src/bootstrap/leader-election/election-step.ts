// One step of the election for one lease. No state is kept between steps: where an election stands is read from
// the lease and the candidates themselves.
//
//   no leader, or not the best ─▶ every candidate is pinged (pingTime) ─▶ it answers (renewTime) or its time is over
//                              ─▶ the best of those that answered: holder of a free lease, preferredHolder of a held one
import type { Logger } from '../../lib/telemetry/log.js';
import { OLDEST_EMULATION_VERSION } from '../../apis/coordination/strategy-name.js';
import { type ServerClient, SERVER_MANAGER } from '../../registry/server-client.js';
import type { Lease, LeaseSpec } from '../../schema/generated/coordination.v1.js';
import type { LeaseCandidate } from '../../schema/generated/coordination.v1beta1.js';
import {
  type Candidate,
  CANDIDATE_VALID_MS,
  isCandidateExpired,
  isLeaseExpired,
  isPast,
  oldestEmulation,
  strategyOf,
} from './election.js';
import { microseconds, microTime } from './micro-time.js';

export const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };
export const CANDIDATES = { group: 'coordination.k8s.io', resource: 'leasecandidates' };
/** How long a candidate may take to answer. */
const ELECTION_MS = 5_000;
const LEASE_SECONDS = 5;

export interface ElectionStep {
  readonly client: Pick<ServerClient, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  readonly name: string;
  readonly candidates: readonly Candidate[];
  readonly lease: Readonly<Lease> | undefined;
  readonly nowMs: number;
  readonly log: Logger;
}

/** Answers whether to look again in a while; else the next change of the lease or a candidate is waited for. */
export async function electionStep(step: ElectionStep): Promise<boolean> {
  const candidates = step.candidates.filter((candidate) => !isCandidateExpired(candidate, step.nowMs));
  if (candidates.length === 0) return false;
  if (!isNeeded(step, candidates)) return true;
  if (await isWaiting(step, candidates)) return true;
  const answered = candidates.filter(({ spec }) => !isPast(spec.renewTime ?? '', ELECTION_MS, step.nowMs));
  if (answered.length === 0) {
    step.log.info(`${step.namespace}/${step.name}: no available candidates`);
    return false;
  }
  const strategy = strategyOf(answered);
  // Other strategies are somebody else's: the lease is made for them, without a holder.
  const holder = strategy === OLDEST_EMULATION_VERSION ? oldestEmulation(answered)?.metadata.name : undefined;
  await elect(step, strategy, holder);
  return true;
}

function isNeeded({ lease, nowMs }: ElectionStep, candidates: readonly Candidate[]): boolean {
  if (lease === undefined || isLeaseExpired(lease, nowMs) || !lease.spec.holderIdentity) return true;
  // All are pinged again now and then, to find those that are gone.
  if (candidates.some(({ spec }) => isPast(spec.renewTime ?? '', CANDIDATE_VALID_MS / 2, nowMs))) return true;
  if (strategyOf(candidates) !== OLDEST_EMULATION_VERSION) return false;
  const best = oldestEmulation(candidates);
  return best !== undefined && best.metadata.name !== lease.spec.holderIdentity;
}

/** Pings those that have not answered lately. True while answers may still come. */
async function isWaiting({ client, nowMs }: ElectionStep, candidates: readonly Candidate[]): Promise<boolean> {
  let waiting = false;
  const pinged: Candidate[] = [];
  for (const candidate of candidates) {
    const { pingTime, renewTime = '' } = candidate.spec;
    const hasAnswered = pingTime === undefined || microseconds(renewTime) >= microseconds(pingTime);
    if (!hasAnswered) {
      // A candidate that missed its time is not pinged a second time.
      if (!isPast(pingTime, ELECTION_MS, nowMs)) waiting = true;
    } else if (isPast(renewTime, ELECTION_MS, nowMs)) {
      pinged.push(candidate);
      waiting = true;
    }
  }
  const ping = (candidate: Candidate): Promise<void> =>
    client.update({
      resource: CANDIDATES,
      object: candidate,
      change: (object) => {
        const { spec, ...rest } = object as LeaseCandidate;
        return { ...rest, spec: { ...spec, pingTime: microTime(nowMs) } };
      },
      manager: SERVER_MANAGER,
    });
  await Promise.all(pinged.map(ping));
  return waiting;
}

async function elect(step: ElectionStep, strategy: string, holder: string | undefined): Promise<void> {
  const { client, namespace, name, nowMs, log } = step;
  const spec: LeaseSpec = {
    strategy,
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime: microTime(nowMs),
    ...(holder !== undefined && { holderIdentity: holder }),
  };
  const lease: Lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { namespace, name }, spec };
  if (await client.create(LEASES, lease, SERVER_MANAGER)) {
    return log.info(`${namespace}/${name}: lease made for ${holder ?? 'another strategy'}`);
  }
  const existing = (await client.get(LEASES, namespace, name)) as Lease | undefined;
  if (existing === undefined || !changes(existing, strategy, holder, nowMs)) return;
  const update = (current: Lease): Lease => ({ ...current, spec: elected(current, strategy, holder, nowMs) });
  await client.update({
    resource: LEASES,
    object: existing,
    change: (object) => update(object as Lease),
    manager: SERVER_MANAGER,
  });
  log.info(`${namespace}/${name}: ${holder ?? 'nobody'} elected`);
}

const changes = ({ spec }: Lease, strategy: string, holder: string | undefined, nowMs: number): boolean =>
  JSON.stringify(elected({ metadata: {}, spec }, strategy, holder, nowMs)) !== JSON.stringify(spec);

/** Assigns a free lease; marks one that is held, so that its holder releases it. */
function elected({ metadata, spec }: Lease, strategy: string, holder: string | undefined, nowMs: number): LeaseSpec {
  const kept = spec.strategy === strategy ? spec : { ...spec, strategy };
  if (holder === undefined || holder === spec.holderIdentity) return kept;
  if (spec.holderIdentity && !isLeaseExpired({ metadata, spec }, nowMs)) return { ...kept, preferredHolder: holder };
  const { preferredHolder: _preferred, acquireTime: _acquired, ...rest } = kept;
  return { ...rest, holderIdentity: holder, renewTime: microTime(nowMs), leaseDurationSeconds: LEASE_SECONDS };
}
