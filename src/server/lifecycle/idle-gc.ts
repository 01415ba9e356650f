// Memory goes back after load. V8 collects when it needs room, and a server without requests needs none: it
// would keep what the busiest minute left behind. So when work is over, all is collected once, while nobody waits.
import v8 from 'node:v8';
import type { Clock } from '../../lib/async/clock.js';
import { type Collector, exposedCollector } from '../../lib/scheduling/collector.js';
import { processorMs } from '../../lib/scheduling/processor-time.js';

const CHECK_MS = 2_000;
/** A server that used less of the processor than this share of the time is idle. */
const IDLE_SHARE = 0.05;
/** So much work makes a collection worth its time. */
const WORTH_MS = 500;
/**
 * What is done at the checks after work, while the server stays idle. The first collection of all marks what is garbage,
 * the second returns what the first has swept. Collecting the young ones is quick, and makes the room for them small
 * again once few have come for five seconds.
 */
const STEPS: readonly ('all' | 'young')[] = ['all', 'young', 'young', 'all'];
/** A request that comes meanwhile waits so long at most: where one pause would be longer, collection runs in slices. */
const MAX_MS = 50;
/** For each megabyte in use. What the last collection took is a better guess, for a while. */
const USUAL_MS_PER_MIB = 1;
const LEAST_MS_PER_MIB = 0.25;

export interface IdleGcParts {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Processor time of the process so far. */
  readonly usedMs: () => number;
  readonly heapBytes: () => number;
  /** `gradually`: all, in slices between event loop iterations. */
  readonly collect: (which: 'all' | 'young' | 'gradually') => void;
}

export function collectWhenIdle(parts: IdleGcParts): void {
  const { clock, stopping, usedMs } = parts;
  let before = usedMs();
  let workedMs = before;
  let step = STEPS.length;
  let msPerMib = USUAL_MS_PER_MIB;
  const collectAll = (): void => {
    const mib = parts.heapBytes() / 1024 ** 2;
    if (mib * msPerMib > MAX_MS) {
      // The last may have been slow because of what else the machine did.
      msPerMib = (msPerMib + USUAL_MS_PER_MIB) / 2;
      parts.collect('gradually');
      return;
    }
    const began = clock.now();
    parts.collect('all');
    msPerMib = Math.max(LEAST_MS_PER_MIB, (clock.now() - began) / mib);
  };
  const check = (): void => {
    if (stopping.aborted) return;
    const now = usedMs();
    const isIdle = now - before < CHECK_MS * IDLE_SHARE;
    workedMs += now - before;
    before = now;
    if (isIdle && workedMs >= WORTH_MS) {
      step = 0;
      workedMs = 0;
    }
    const which = STEPS[step];
    if (isIdle && which !== undefined) {
      step++;
      if (which === 'all') collectAll();
      else parts.collect('young');
      // What collecting took is no work that has to be cleaned up after.
      before = usedMs();
    }
    clock.after(CHECK_MS, check);
  };
  clock.after(CHECK_MS, check);
}

export const processParts = (): Pick<IdleGcParts, 'usedMs' | 'heapBytes' | 'collect'> => {
  let collector: Collector | undefined;
  return {
    usedMs: processorMs,
    heapBytes: () => process.memoryUsage().heapUsed,
    collect: (which) => {
      collector ??= exposedCollector();
      if (which === 'all') collector();
      else if (which === 'young') collector({ type: 'minor' });
      else startCollecting(collector);
    },
  };
};

/**
 * Marks a few milliseconds at a time, and then needs a few to sweep: V8 does so of its own when the old ones have grown by
 * much, and looks at that whenever it has collected the young. So for once the heuristic is set so that any growth is
 * much. Whether threads mark as well may not be changed while V8 runs: it counts on that staying as it was when marking
 * began, and ends the process when it finds otherwise.
 */
function startCollecting(collector: Collector): void {
  v8.setFlagsFromString('--incremental-marking-hard-trigger=1');
  collector({ type: 'minor' });
  v8.setFlagsFromString('--incremental-marking-hard-trigger=0');
}
