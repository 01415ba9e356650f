import { setTimeout as delay } from 'node:timers/promises';

/**
 * For how long a fault lasts, or a client waits before it tries again: what is tried is that so much time passes while
 * nothing happens that a test could await.
 */
export const faultTime = (ms: number, options?: { readonly signal?: AbortSignal }): Promise<void> =>
  delay(ms, undefined, options);
