import type { Informer } from '../storage/informer.js';

/** Whether what was stored at the start is known. */
export interface Readiness {
  readonly ready: boolean;
  /** Resolves when it is, or with false when that takes too long for a request. */
  whenReady(): Promise<boolean>;
}

const READY_WITHIN_MS = 10_000;

/** A server that stops before it knew what it follows never does: it must not let pass what that would refuse. */
export function informerReady(
  followed: readonly Informer[],
  { signal, wait }: { readonly signal: AbortSignal; readonly wait: (ms: number) => Promise<void> },
): Readiness {
  let ready = false;
  const synced = Promise.all(followed.map((each) => each.synced)).then(() => (ready = !signal.aborted));
  return {
    get ready() {
      return ready;
    },
    whenReady: () => Promise.race([synced, wait(READY_WITHIN_MS).then(() => false)]),
  };
}
