// The program behind `binnacle COMMAND`: finds the command, runs it, and makes an exit code of how it ends. The server
// itself is another program (src/main.ts), which bin/binnacle starts for `binnacle` and `binnacle serve`.
import { ConfigError } from '../config/config-error.js';
import { closestFlag, closestName } from '../options/closest-flag.js';
import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command, CommandFailure, type CommandParts, EXIT } from './command.js';
import { commands } from './commands.js';
import { commandHelp } from './help-text.js';

export async function runProgram(argv: readonly string[], parts: CommandParts): Promise<number> {
  const [name = 'help', ...args] = argv;
  const command = commands().find((one) => one.name === name);
  if (command === undefined) return unknownCommand(name, parts);
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

function unknownCommand(name: string, { printError }: CommandParts): number {
  const names = commands().map((command) => command.name);
  printError(`Error: unknown command: ${name.slice(0, MAX_SHOWN)}\n${hint(closestName(name, names))}`);
  printError('`binnacle help` lists all commands.\n');
  return EXIT.wrongUsage;
}

const MAX_SHOWN = 200;

function wrongUsage(command: Command, mistake: CommandLineMistake, { printError }: CommandParts): number {
  const topics = [...command.topics, ...(command.passesOn ?? [])];
  const flag = mistake.unknownFlag === undefined ? undefined : closestFlag(mistake.unknownFlag, topics);
  printError(`Error: ${mistake.message}\n${hint(flag === undefined ? undefined : `--${flag}`)}`);
  printError(`\`binnacle help ${command.name}\` tells how it is used.\n`);
  return EXIT.wrongUsage;
}

const hint = (meant: string | undefined): string => (meant === undefined ? '' : `Did you mean ${meant}?\n`);
