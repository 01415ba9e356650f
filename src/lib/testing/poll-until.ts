import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const AGAIN_AFTER_MS = 20;
const WITHIN_MS = 60_000;

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

const isThere = (answer: unknown): boolean => answer !== undefined && answer !== false;
