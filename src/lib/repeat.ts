// Work that is done again and again, or until it succeeds.
import { errorText } from './error-text.js';
import { pause } from './pause.js';

export interface Repetition {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
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
      .catch((error: unknown) => log(errorText(error)))
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
  options: { readonly signal: AbortSignal; readonly log: (message: string) => void },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await task();
      return;
    } catch (error) {
      if (options.signal.aborted || attempt >= MAX_ATTEMPTS) throw error;
      options.log(errorText(error));
      await pause(RETRY_MS, options.signal);
    }
  }
}

const MAX_ATTEMPTS = 30;
const RETRY_MS = 1000;
