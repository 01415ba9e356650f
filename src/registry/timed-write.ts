import type { LifeContext } from './kind.js';

/** A write, whose time the request is told. */
export async function timedWrite<T>(context: Pick<LifeContext, 'spent'>, write: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await write();
  } finally {
    context.spent?.('etcd', performance.now() - startedMs);
  }
}
