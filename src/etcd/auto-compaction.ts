// Compaction without a client that asks for it: what is older than a time, or than so many revisions.
import type { Clock } from '../lib/async/clock.js';
import type { EmbeddedStore } from '../kv/embedded/embedded.js';

/** Between two compactions by revision, as etcd has it. */
const REVISION_PERIOD_MS = 5 * 60_000;
/** By time: at most this, and a tenth of the time that is kept. */
const MAX_SAMPLE_MS = 6 * 60_000;

export type Retention = { readonly keepMs: number } | { readonly keepRevisions: number };

export interface AutoCompactionParts {
  readonly store: EmbeddedStore;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly log: (message: string) => void;
}

/** Answers how to stop it. */
export function startAutoCompaction({ store, retention, clock, log }: AutoCompactionParts): () => void {
  const { mvcc } = store;
  /** What the revision was when; oldest first. */
  const samples: { readonly atMs: number; readonly revision: number }[] = [];
  let cancel = (): void => undefined;
  let isStopped = false;

  const target = (): number => {
    if ('keepRevisions' in retention) return mvcc.revision - retention.keepRevisions;
    const nowMs = clock.now();
    let revision = 0;
    while (samples[0] !== undefined && nowMs - samples[0].atMs >= retention.keepMs) {
      revision = samples.shift()?.revision ?? revision;
    }
    samples.push({ atMs: nowMs, revision: mvcc.revision });
    return revision;
  };

  const round = async (): Promise<void> => {
    const revision = target();
    if (revision <= mvcc.compacted) return;
    await store.compact(revision);
    log(`compacted up to revision ${revision}`);
  };

  const periodMs =
    'keepRevisions' in retention ? REVISION_PERIOD_MS : Math.min(MAX_SAMPLE_MS, Math.max(1, retention.keepMs / 10));
  const schedule = (): void => {
    if (isStopped) return;
    cancel = clock.after(periodMs, () => {
      round()
        .catch((error: unknown) => log(`compaction failed: ${String(error)}`))
        .finally(schedule);
    });
  };
  schedule();
  return () => {
    isStopped = true;
    cancel();
  };
}
