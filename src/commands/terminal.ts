// What only a terminal is sent: colours and progress.
import type { CommandParts } from './command.js';

const COLOURS = { green: 32, yellow: 33 } as const;

/** `NO_COLOR` turns colours off, as https://no-color.org has it. */
export function coloured(
  text: string,
  colour: keyof typeof COLOURS,
  { columns, env }: Pick<CommandParts, 'columns' | 'env'>,
): string {
  return columns === 0 || (env['NO_COLOR'] ?? '') !== '' ? text : `\x1b[${COLOURS[colour]}m${text}\x1b[0m`;
}

/** A line that is replaced by what comes after it. */
export function progress(text: string, { showsProgress, printError }: CommandParts): () => void {
  if (!showsProgress) return () => undefined;
  printError(text);
  return () => printError('\r\x1b[K');
}

const BAR_WIDTH = 30;

export interface ProgressBar {
  /** So many of all are done. */
  at(done: number): void;
  clear(): void;
}

/** A line with how far something is; only on a terminal. */
export function progressBar(what: string, total: number, { showsProgress, printError }: CommandParts): ProgressBar {
  let shown = -1;
  return {
    at(done) {
      const percent = total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total));
      if (!showsProgress || percent === shown) return;
      shown = percent;
      const filled = Math.floor((percent * BAR_WIDTH) / 100);
      const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.');
      printError(`\r${what} [${bar}] ${String(percent).padStart(3)} %  ${done} of ${total}\x1b[K`);
    },
    clear() {
      if (shown >= 0) printError('\r\x1b[K');
    },
  };
}
