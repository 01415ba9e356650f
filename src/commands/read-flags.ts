import type { Topic } from '../options/flag-table.js';
import { CommandLineMistake, parseFlags, type ParsedFlags } from '../options/parse-flags.js';

/** Of a command that takes flags alone. */
export function readFlags<Topics extends readonly Topic[]>(
  topics: Topics,
  args: readonly string[],
): ParsedFlags<Topics> {
  const parsed = parseFlags(topics, args);
  const [word] = parsed.positional;
  if (word !== undefined) throw new CommandLineMistake(`unexpected argument: ${word.slice(0, 200)}`);
  return parsed;
}
