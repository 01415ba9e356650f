// A configuration file that is reloaded when it changes. A bad change leaves what was there in effect.
import { whenAborted } from '../lib/async/when-aborted.js';
import { readTextFile } from '../lib/go/file-error.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { ReloadRequests } from '../lib/files/reload-requests.js';
import { watchFiles } from '../lib/files/watch-files.js';
import { ConfigError } from './config-error.js';

export interface ReloadOptions<T> {
  /** As logs call it, with its article left out. */
  readonly what: string;
  readonly file: string;
  /** What is in effect now was made of this text. */
  readonly current: string;
  /** Reads and checks the whole of it; throws a ConfigError. */
  readonly load: (text: string) => T | Promise<T>;
  /** Puts it into effect. When it throws, the old one stays. */
  readonly apply: (config: T) => void | Promise<void>;
  readonly succeeded: (text: string) => void;
  /** At every try; what is wrong is logged here, once. */
  readonly failed: () => void;
  readonly log: Logger;
  readonly stopping: AbortSignal;
  readonly reloads?: ReloadRequests | undefined;
  readonly pollMs?: number;
  /**
   * A text that failed is tried again after this time: it may have been something else that was not well. With it, the text
   * that is in effect is not applied a second time.
   */
  readonly retryMs?: number;
  /** What could not be put into effect is tried again at the next look: it may be others' trouble, which passes. */
  readonly retryApply?: boolean;
}

const POLL_MS = 60_000;

export function reloadOnChange<T>(options: ReloadOptions<T>): void {
  let tried = options.current;
  let inEffect = options.current;
  let running: Promise<void> | undefined;
  let again = false;
  let retry: NodeJS.Timeout | undefined;
  let logged: string | undefined;

  const attempt = async (): Promise<void> => {
    try {
      const read = readTextFile(options.file);
      const found = read.ok ? read.text : read.error;
      if (found === tried) return;
      // Tried once: the same bad text, or the same lack of one, is not complained of every minute.
      tried = found;
      clearTimeout(retry);
      if (found === inEffect && options.retryMs !== undefined) return;
      if (!read.ok) throw new ConfigError(read.error);
      const config = await options.load(read.text);
      if (options.stopping.aborted) return;
      await apply(config);
      inEffect = read.text;
      options.succeeded(read.text);
      logged = undefined;
    } catch (error) {
      options.failed();
      logFailure(error instanceof Error ? error : new Error(String(error)));
      if (options.retryMs !== undefined) retryIn(options.retryMs);
    }
  };
  const logFailure = (error: Error): void => {
    if (error.message === logged) return;
    logged = error.message;
    options.log.error(error, `Kept the ${options.what} in use`, { file: options.file });
  };
  const apply = async (config: T): Promise<void> => {
    try {
      await options.apply(config);
    } catch (error) {
      if (options.retryApply === true) tried = '';
      throw error;
    }
  };
  const retryIn = (ms: number): void => {
    clearTimeout(retry);
    retry = setTimeout(() => {
      tried = '';
      if (!options.stopping.aborted) changed();
    }, ms).unref();
  };
  const changed = (): void => {
    if (running !== undefined) {
      again = true;
      return;
    }
    running = attempt().finally(() => {
      running = undefined;
      if (!again) return;
      again = false;
      changed();
    });
  };
  const stop = watchFiles([options.file], {
    pollMs: options.pollMs ?? POLL_MS,
    changed,
    reloads: options.reloads,
  });
  whenAborted(options.stopping, stop);
  // It may have changed between its being read and its being watched.
  changed();
}
