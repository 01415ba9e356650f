// Work that is done again and again, or until it succeeds.
import type { Logger } from '../telemetry/log.js';
import { errorText } from '../text/error-text.js';
import { pause } from './pause.js';

export interface Insistence {
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** After so long without success the last error is thrown; 30 s by default. */
  readonly timeoutMs?: number;
}

export interface Repetition extends Insistence {
  readonly everyMs: number;
}

/** Insists on the first time and waits for it; then again and again until `signal` aborts. Failures are logged and tried again. */
export async function repeat(task: () => Promise<void>, repetition: Repetition): Promise<void> {
  await insist(task, repetition);
  if (!repetition.signal.aborted) every(task, repetition);
}

/** Runs from the first interval on. Failures are logged and tried again. */
export function every(task: () => Promise<void>, { everyMs, signal, log }: Repetition): void {
  let running = false;
  const timer = setInterval(() => {
    // A slow store must not pile up rounds.
    if (running) return;
    running = true;
    task()
      .catch((error: unknown) => log.warning(errorText(error)))
      .finally(() => (running = false));
  }, everyMs);
  timer.unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/**
 * For what must be there before the server is of use: tries until it succeeds or the time is over. A store with very many
 * objects may take a while until it answers.
 */
export async function insist(
  task: () => Promise<void>,
  { signal, log, timeoutMs = DEFAULT_TIMEOUT_MS }: Insistence,
): Promise<void> {
  const maxAttempts = timeoutMs / RETRY_MS;
  for (let times = 1; ; times++) {
    try {
      await task();
      return;
    } catch (error) {
      if (signal.aborted || times >= maxAttempts) throw error;
      log.warning(errorText(error));
      await pause(RETRY_MS, signal);
    }
  }
}

/**
 * For what a server is of use without: the first time is waited for, however it ends. While it fails it is tried again
 * behind the caller's back, without an end; then, with `everyMs`, again and again.
 */
export async function attempt(
  task: () => Promise<void>,
  options: Omit<Insistence, 'timeoutMs'> & { readonly everyMs?: number },
): Promise<void> {
  const { signal, log, everyMs } = options;
  const goOn = (): void => {
    if (everyMs !== undefined && !signal.aborted) every(task, { everyMs, signal, log });
  };
  try {
    await task();
  } catch (error) {
    log.warning(errorText(error));
    void pause(RETRY_MS, signal)
      .then(() => insist(task, { signal, log, timeoutMs: Infinity }))
      // insist() fails only when the signal aborts.
      .then(goOn, () => undefined);
    return;
  }
  goOn();
}

const DEFAULT_TIMEOUT_MS = 30_000;
const RETRY_MS = 1000;
