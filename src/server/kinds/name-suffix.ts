// Random characters that make a generated name unique.
import crypto from 'node:crypto';

/** None that form words, none that look alike. */
const CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789';
const LENGTH = 5;
// One random number has room for all characters: 27^5 is far below 2^47.
const COUNT = CHARACTERS.length ** LENGTH;

export const nameSuffix = nameSuffixes({ index: 0, count: 1 });

/**
 * Worker processes draw from different suffixes: each knows which names it has drawn itself, and which lie in the store, but not
 * what another is about to store.
 */
export function nameSuffixes(
  { index, count }: { readonly index: number; readonly count: number },
  random: (below: number) => number = crypto.randomInt,
): () => string {
  const drawn = Math.floor(COUNT / count);
  return () => {
    let number = random(drawn) * count + index;
    let suffix = '';
    for (let i = 0; i < LENGTH; i++) {
      suffix += CHARACTERS[number % CHARACTERS.length];
      number = Math.floor(number / CHARACTERS.length);
    }
    return suffix;
  };
}
