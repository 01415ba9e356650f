import { timeout } from '../machinery/status.js';
import type { LifeContext } from './kind.js';

const TOO_LATE = 'request did not complete within requested timeout - context deadline exceeded';

/** Nobody waits any more for what others kept from its turn, or what takes too long. */
export function checkDeadline({ deadlineMs }: LifeContext): void {
  if (deadlineMs !== undefined && Date.now() > deadlineMs) throw timeout(TOO_LATE);
}
