import crypto from 'node:crypto';
import { type Random, seededRandom } from '../torture/random.js';

/** Random numbers of one test. Its seed is printed, and BINNACLE_SEED tries the same again. */
export function testRandom(): Random {
  const seed = Number(process.env['BINNACLE_SEED'] ?? crypto.randomInt(2 ** 31));
  console.log(`BINNACLE_SEED=${seed}`);
  return seededRandom(seed);
}
