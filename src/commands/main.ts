// Where dist/commands.cjs begins.
import { runProgram } from './program.js';

void runProgram(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : 0,
  showsProgress: process.stderr.isTTY,
}).then((code) => {
  process.exitCode = code;
});
