import { checkDeadline } from './deadline.js';
import type { LifeContext } from './kind.js';

/** Runs a write and records its duration on the request. Writes nothing once nobody waits for the answer. */
export async function timedWrite<T>(
  context: Pick<LifeContext, 'spent' | 'deadlineMs' | 'waiting'>,
  write: () => Promise<T>,
): Promise<T> {
  checkDeadline(context);
  const startedMs = performance.now();
  try {
    return await write();
  } finally {
    context.spent?.('etcd', performance.now() - startedMs);
  }
}
