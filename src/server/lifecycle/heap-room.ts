// Room for V8's heap to grow. While few objects are made, V8 collects all again once the heap has grown by a third. For a small heap that
// is a few megabytes: under the steady load of a cluster it collected all every one to two seconds, on all cores. A large heap has room
// enough by V8's own rule.
import v8 from 'node:v8';
import type { Clock } from '../../lib/async/clock.js';

/** V8's flags are part of the code cache's key: what is compiled for the next start has been written by then (bin/load-bundle.cjs). */
const CHECK_MS = 5_000;
const ROOM_BYTES = 64 * 1024 ** 2;
const MAX_PERCENT = 100;
/** What V8 leaves of its own. */
const LEAST_PERCENT = 30;
/** V8 decides by itself. */
const BY_V8 = 0;

export interface HeapRoomParts {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** In use, garbage included. */
  readonly heapBytes: () => number;
  /** How much the heap may grow, in hundredths of what the last full collection left, before the next. */
  readonly setGrowth: (percent: number) => void;
}

export function leaveHeapRoom({ clock, stopping, heapBytes, setGrowth }: HeapRoomParts): void {
  let set = BY_V8;
  const check = (): void => {
    if (stopping.aborted) return;
    const percent = growthFor(heapBytes());
    if (percent !== set) setGrowth(percent);
    set = percent;
    clock.after(CHECK_MS, check);
  };
  clock.after(CHECK_MS, check);
}

export const setHeapGrowth = (percent: number): void => v8.setFlagsFromString(`--heap-growing-percent=${percent}`);

function growthFor(heapBytes: number): number {
  const percent = Math.round((ROOM_BYTES / heapBytes) * 10) * 10;
  return percent <= LEAST_PERCENT ? BY_V8 : Math.min(percent, MAX_PERCENT);
}
