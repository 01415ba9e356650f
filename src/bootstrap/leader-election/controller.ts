// Coordinated leader election: elects a leader for each lease that LeaseCandidates stand for, and deletes candidates
// that have long gone. One server at a time does it.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import { repeat } from '../../lib/async/repeat.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import type { ServerClient } from '../../registry/server-client.js';
import type { Lease } from '../../schema/generated/coordination.v1.js';
import { startInformer } from '../../storage/informer.js';
import type { ResourceStore, StoredObject } from '../../storage/store.js';
import { type Candidate, isCandidateExpired } from './election.js';
import { CANDIDATES, electionStep } from './election-step.js';
import { microseconds } from './micro-time.js';

export interface LeaderElectionOptions {
  readonly client: ServerClient;
  readonly leases: ResourceStore;
  readonly candidates: ResourceStore;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** The lease that says which server elects. */
export const ELECTION_LEASE = { namespace: 'kube-system', name: 'leader-election-controller' };

const LOOK_AGAIN_MS = 5_000;
const COLLECT_MS = 30 * 60_000;

export function startLeaderElection(options: LeaderElectionOptions): void {
  const { client, clock, signal, log } = options;
  const queue = new WorkQueue({ name: 'leader election', work, concurrency: 1, clock, signal, log });
  const planned = new Set<string>();
  /** The candidates of each lease, so that the leases of nodes, which are many, cost nothing. */
  const byLease = new Map<string, Map<string, StoredObject>>();
  const leases = startInformer({
    store: options.leases,
    signal,
    log,
    onUpsert: ({ key }) => queue.add(key),
    onDelete: ({ key }) => queue.add(key),
  });
  const candidates = startInformer({
    store: options.candidates,
    signal,
    log,
    onUpsert(object) {
      const lease = leaseOf(object);
      const known = byLease.get(lease) ?? new Map<string, StoredObject>();
      byLease.set(lease, known.set(object.key, object));
      if (!hasPendingPing(object)) queue.add(lease);
    },
    onDelete(object) {
      const lease = leaseOf(object);
      byLease.get(lease)?.delete(object.key);
      if (byLease.get(lease)?.size === 0) byLease.delete(lease);
      queue.add(lease);
    },
  });
  const collect = async (): Promise<void> => {
    for (const object of await client.list(CANDIDATES)) {
      if (isCandidateExpired(object as Candidate, clock.now())) await client.delete(CANDIDATES, object);
    }
  };
  void repeat(() => collect().catch((error: unknown) => log.info(String(error))), { everyMs: COLLECT_MS, signal, log });

  async function work(key: string): Promise<'done'> {
    const known = byLease.get(key);
    if (known === undefined) return 'done';
    await Promise.all([leases.synced, candidates.synced]);
    const [namespace = '', name = ''] = key.split('/', 2);
    const step = {
      client,
      namespace,
      name,
      candidates: Array.from(known.values(), (stored) => stored.object() as Candidate),
      lease: leases.objects.get(key)?.object() as Lease | undefined,
      nowMs: clock.now(),
      log,
    };
    if (await electionStep(step)) lookAgain(key);
    return 'done';
  }

  function lookAgain(key: string): void {
    if (planned.has(key)) return;
    planned.add(key);
    clock.after(LOOK_AGAIN_MS, () => {
      planned.delete(key);
      queue.add(key);
    });
  }
}

function leaseOf(stored: StoredObject): string {
  const { metadata, spec } = stored.object() as Candidate;
  return `${metadata.namespace}/${spec.leaseName}`;
}

/** It was pinged: the election is under way already. */
function hasPendingPing(stored: StoredObject): boolean {
  const { pingTime, renewTime } = (stored.object() as Candidate).spec;
  return pingTime !== undefined && renewTime !== undefined && microseconds(renewTime) < microseconds(pingTime);
}
