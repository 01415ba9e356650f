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
