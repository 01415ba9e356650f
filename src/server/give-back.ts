// Memory goes back after load. V8 collects when it needs room, and a server that nobody asks for anything needs none: it
// would keep what the busiest minute left behind. So when work is over, all is collected once, while nobody waits.
import v8 from 'node:v8';
import vm from 'node:vm';
import type { Clock } from '../lib/clock.js';

const CHECK_MS = 2_000;
/** A server that used less of the processor than this share of the time is idle. */
const IDLE_SHARE = 0.05;
/** So much work makes a collection worth its time. */
const WORTH_MS = 500;
/** The first marks what is garbage, the second gives back what the first has swept. */
const COLLECTIONS = 2;
/** Collecting takes about a millisecond for each megabyte that is in use: larger heaps are left to V8. */
const LARGEST_HEAP_BYTES = 256 * 1024 * 1024;

export interface GiveBackParts {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Processor time of the process so far. */
  readonly usedMs: () => number;
  readonly heapBytes: () => number;
  readonly collect: () => void;
}

export function giveBackWhenIdle(parts: GiveBackParts): void {
  const { clock, stopping, usedMs } = parts;
  let before = usedMs();
  let workedMs = before;
  let collections = 0;
  const check = (): void => {
    if (stopping.aborted) return;
    const now = usedMs();
    const isIdle = now - before < CHECK_MS * IDLE_SHARE;
    workedMs += now - before;
    before = now;
    if (isIdle && workedMs >= WORTH_MS) {
      collections = COLLECTIONS;
      workedMs = 0;
    }
    if (isIdle && collections > 0 && parts.heapBytes() <= LARGEST_HEAP_BYTES) {
      collections--;
      parts.collect();
      // What collecting took is no work that has to be cleaned up after.
      before = usedMs();
    }
    clock.after(CHECK_MS, check);
  };
  clock.after(CHECK_MS, check);
}

export const processParts = (): Pick<GiveBackParts, 'usedMs' | 'heapBytes' | 'collect'> => {
  let collect: (() => void) | undefined;
  return {
    usedMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    heapBytes: () => process.memoryUsage().heapUsed,
    collect: () => (collect ??= exposedCollector())(),
  };
};

function exposedCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collector = vm.runInNewContext('gc') as () => void;
  // Compiled code that is kept for the next start is good for the flags of this one only.
  v8.setFlagsFromString('--no-expose-gc');
  return collector;
}
