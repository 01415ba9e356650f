import { checkDeadline } from './deadline.js';
import type { LifeContext } from './kind.js';

/** A write, whose time the request is told. Nothing is written for one that nobody waits for any more. */
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
