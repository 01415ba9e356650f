// The program behind `binnacle COMMAND`: finds the command, runs it, and makes an exit code of how it ends. The server
// itself is another program (src/main.ts), which bin/binnacle starts for `binnacle` and `binnacle serve`.
import { closestName } from '../options/closest-flag.js';
import { type CommandParts, EXIT } from './command.js';
import { commands } from './commands.js';
import { hint, runCommand } from './run-command.js';

export async function runProgram(argv: readonly string[], parts: CommandParts): Promise<number> {
  const [name = 'help', ...args] = argv;
  const command = commands().find((one) => one.name === name);
  if (command === undefined) return unknownCommand(name, parts);
  return runCommand(command, args, parts);
}

function unknownCommand(name: string, { printError }: CommandParts): number {
  const names = commands().map((command) => command.name);
  printError(`Error: unknown command: ${name.slice(0, MAX_SHOWN)}\n${hint(closestName(name, names))}`);
  printError('`binnacle help` lists all commands.\n');
  return EXIT.wrongUsage;
}

const MAX_SHOWN = 200;
