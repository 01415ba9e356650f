import type { Topic } from '../options/flag-table.js';
import { CommandLineMistake, parseFlags, type ParsedFlags } from '../options/parse-flags.js';

/** Of a command that takes flags alone. */
export function readFlags<Topics extends readonly Topic[]>(
  topics: Topics,
  args: readonly string[],
): ParsedFlags<Topics> {
  return readArguments(topics, args, 0);
}

/** Of a command that takes so many arguments beside them, at most. */
export function readArguments<Topics extends readonly Topic[]>(
  topics: Topics,
  args: readonly string[],
  count: number,
): ParsedFlags<Topics> {
  const parsed = parseFlags(topics, args);
  const word = parsed.positional[count];
  if (word !== undefined) throw new CommandLineMistake(`unexpected argument: ${word.slice(0, 200)}`);
  return parsed;
}
