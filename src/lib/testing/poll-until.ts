import { setTimeout as delay } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';

const AGAIN_AFTER_MS = 20;
const WITHIN_MS = 60_000;
/** So many answers in a row: together longer than the server lets changes of a file settle. */
const SETTLED_AFTER = 12;

/**
 * For tests of what comes about by itself, where no event reports it: probes until the result is the wanted one, by
 * default any but undefined and false. What never comes fails with the question and its last answer, before the test's
 * own time is over.
 */
export async function pollUntil<T>(probe: () => T | Promise<T>, isWanted: (answer: T) => boolean): Promise<T>;
export async function pollUntil<T>(probe: () => T | undefined | false | Promise<T | undefined | false>): Promise<T>;
export async function pollUntil<T>(
  probe: () => T | Promise<T>,
  isWanted: (answer: T) => boolean = isThere,
): Promise<T> {
  for (const endMs = performance.now() + WITHIN_MS; ; await delay(AGAIN_AFTER_MS)) {
    const answer = await probe();
    if (isWanted(answer)) return answer;
    if (performance.now() > endMs) throw new Error(`waited in vain for ${probe.toString()}: ${inspect(answer)}`);
  }
}

/**
 * For tests of what comes to its end, or of what must not come: probes until the answer has been the same for a while,
 * and returns it.
 */
export function settled<T>(probe: () => T | Promise<T>): Promise<T> {
  let last: { readonly answer: T } | undefined;
  let same = 0;
  return pollUntil(probe, (answer) => {
    same = last !== undefined && isDeepStrictEqual(last.answer, answer) ? same + 1 : 0;
    last = { answer };
    return same === SETTLED_AFTER;
  });
}

const isThere = (answer: unknown): boolean => answer !== undefined && answer !== false;
