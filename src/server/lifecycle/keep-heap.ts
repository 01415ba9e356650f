// The upkeep of V8's heap, which all servers of a process share.
import { monotonicClock } from '../../lib/async/clock.js';
import { leaveHeapRoom, setHeapGrowth } from './heap-room.js';
import { collectWhenIdle, processParts } from './idle-gc.js';
import { limitYoungGeneration, youngParts } from './young-generation.js';

/** Once for a process: each further time would collect everything once more whenever the process falls idle. */
export function keepHeap(stopping: AbortSignal): void {
  const heap = { clock: monotonicClock, stopping, ...processParts() };
  collectWhenIdle(heap);
  leaveHeapRoom({ ...heap, setGrowth: setHeapGrowth });
  limitYoungGeneration({ ...heap, ...youngParts });
}
