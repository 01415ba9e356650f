import { isCancelled, type Cancellation } from '../lib/async/cancellation.js';
import { type StatusError, timeout } from '../machinery/status.js';
import { DEADLINE_EXCEEDED, OutboundError } from '../outbound/outbound-error.js';
import type { LifeContext } from './kind.js';

const LATE = 'request did not complete within requested timeout';

/** Throws once nobody waits for the answer: the queue or the work took longer than the client. */
export function checkDeadline(context: Pick<LifeContext, 'deadlineMs' | 'waiting'>): void {
  if (context.deadlineMs !== undefined && Date.now() > context.deadlineMs) throw tooLate();
  if (isCancelled(context.waiting)) throw givenUp(context.waiting);
}

export const tooLate = (): StatusError => timeout(`${LATE} - ${DEADLINE_EXCEEDED}`);

/** Why the one who waited does not do so any more. */
export const givenUp = (waiting: Cancellation): StatusError =>
  timeout(`${LATE} - ${OutboundError.aborted(waiting.signal).message}`);
