// Runs one command, and makes an exit code of how it ends.
import { ConfigError } from '../config/config-error.js';
import { closestFlag } from '../options/closest-flag.js';
import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command, CommandFailure, type CommandParts, EXIT } from './command.js';
import { commandHelp } from './help-text.js';

export async function runCommand(command: Command, args: readonly string[], parts: CommandParts): Promise<number> {
  const ownArgs = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (ownArgs.includes('--help') || ownArgs.includes('-h')) {
    parts.print(commandHelp(command, parts.columns));
    return EXIT.done;
  }
  try {
    return await command.run(args, parts);
  } catch (error) {
    if (error instanceof CommandLineMistake) return wrongUsage(command, error, parts);
    if (!(error instanceof CommandFailure || error instanceof ConfigError)) throw error;
    parts.printError(`error: ${error.message}\n`);
    return EXIT.failed;
  }
}

function wrongUsage(command: Command, mistake: CommandLineMistake, { printError }: CommandParts): number {
  const topics = [...command.topics, ...(command.passesOn ?? [])];
  const flag = mistake.unknownFlag === undefined ? undefined : closestFlag(mistake.unknownFlag, topics);
  printError(`Error: ${mistake.message}\n${hint(flag === undefined ? undefined : `--${flag}`)}`);
  printError(`\`binnacle help ${command.name}\` tells how it is used.\n`);
  return EXIT.wrongUsage;
}

export const hint = (meant: string | undefined): string => (meant === undefined ? '' : `Did you mean ${meant}?\n`);
