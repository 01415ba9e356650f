// What `binnacle help` prints: the list of commands, or all about one.
import { flagLines } from '../options/help.js';
import type { Command } from './command.js';

export function allHelp(list: readonly Command[]): string {
  const longest = list.reduce((length, { name }) => Math.max(length, name.length), 0);
  const rows = list.map(({ name, summary }) => `  ${name.padEnd(longest)}   ${summary}`);
  return `Binnacle is the Kubernetes API server, in one process.

Usage:
  binnacle COMMAND [flags]
  binnacle [flags]              the same as binnacle serve

Commands:
${rows.join('\n')}

\`binnacle help COMMAND\` has more about each.
`;
}

/** `width` is 0 where there is no terminal. */
export function commandHelp(command: Command, width: number): string {
  const lines = [command.about, '', 'Usage:', ...command.usage.map((form) => `  binnacle ${form}`)];
  const flags = command.topics.flatMap((topic) => ['', ...flagLines(topic, width)]);
  return `${[...lines, ...flags].join('\n')}\n`;
}
