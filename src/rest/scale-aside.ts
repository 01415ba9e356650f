// The write of a scale, where it or what is scaled is large: made in another thread, as change-aside.ts has it.
import type { Aside } from '../lib/aside.js';
import { inTurns } from '../lib/turns.js';
import { readPieces } from '../schema/json/decode-pieces.js';
import type { Found } from '../registry/update.js';
import { type ChangeRequest, makeAside, objectMade } from './change-aside.js';
import { scaleType } from './scale-answer.js';
import type { Scale, Scaled } from './scale-change.js';

/** `warn`: told what there is to warn of, where that is not known yet. */
export async function scaleAside(
  aside: Aside,
  change: ChangeRequest,
  { stored }: Found,
  warn?: (text: string) => void,
): Promise<Scaled> {
  const made = await makeAside(aside, change, { live: stored?.json }, warn);
  if (made.scales === undefined) throw new Error('a scale was not made');
  const object = await objectMade(change.endpoint, made);
  return { object, live: await carriedScale(made.scales.live), scale: await carriedScale(made.scales.sent) };
}

async function carriedScale(bytes: Uint8Array): Promise<Scale> {
  const read = await inTurns(readPieces(bytes, scaleType(), { isOurs: true, closesMaps: true }));
  if (read === undefined) throw new Error('a scale was lost on its way');
  return read.value as Scale;
}
