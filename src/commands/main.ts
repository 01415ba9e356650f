// Where dist/commands.cjs begins.
import { EXIT } from './command.js';
import { runProgram } from './program.js';

// Whoever reads a pipe may have seen enough, as `head` has; anything else is reported in a line.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.stderr.write(`error: standard output: ${message}\n`);
  process.exit(EXIT.failed);
});

void runProgram(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : 0,
  showsProgress: process.stderr.isTTY,
}).then((code) => {
  process.exitCode = code;
});
