// The write of a scale, where it or what is scaled is large: made on a worker, as change-on-worker.ts has it.
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import { runCooperatively } from '../../lib/scheduling/yield.js';
import { readPieces } from '../../schema/json/decode-pieces.js';
import type { Found } from '../../registry/update.js';
import { type ChangeRequest, makeOnWorker, objectMade } from './change-on-worker.js';
import { scaleType } from '../answer/scale-answer.js';
import type { Scale, Scaled } from './scale-change.js';

/** `warn`: called with the warnings that are not known yet. */
export async function scaleOnWorker(
  workers: WorkerPool,
  change: ChangeRequest,
  { stored }: Found,
  warn?: (text: string) => void,
): Promise<Scaled> {
  const made = await makeOnWorker(workers, change, { live: stored?.json }, warn);
  if (made.scales === undefined) throw new Error('a scale was not made');
  const object = await objectMade(change.endpoint, made);
  return { object, live: await transferredScale(made.scales.live), scale: await transferredScale(made.scales.sent) };
}

async function transferredScale(bytes: Uint8Array): Promise<Scale> {
  const read = await runCooperatively(readPieces(bytes, scaleType(), { isOurs: true, closesMaps: true }));
  if (read === undefined) throw new Error('a scale was lost on its way');
  return read.value as Scale;
}
