// `--flags-file`: flags kept in a file, for services whose command line stands in a unit file.
//
//   # where to listen
//   --secure-port=6443
//   --audit-log-path=/var/log/binnacle/audit log.json
//
// A line is one argument as it is: no quotes, no escapes, no variables.
import fs from 'node:fs';
import { goFileError } from '../lib/go/file-error.js';
import { CommandLineMistake } from './parse-flags.js';

const FLAG = '--flags-file';
/** Far more than all flags take. */
const MAX_BYTES = 1024 * 1024;

export interface FlagsFile {
  readonly file: string;
  readonly args: readonly string[];
}

/** The last one that the command line names; undefined when it names none. Throws a CommandLineMistake. */
export function readFlagsFile(argv: readonly string[]): FlagsFile | undefined {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const at = words.findLastIndex((word) => word === FLAG || word.startsWith(`${FLAG}=`));
  const file = words[at] === FLAG ? words[at + 1] : words[at]?.slice(FLAG.length + 1);
  if (file === undefined || file === '') return undefined;
  const args = readText(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const wrong = args.find((arg) => !arg.startsWith('-') || arg === '--' || isNested(arg));
  if (wrong === undefined) return { file, args };
  const why = isNested(wrong) ? 'a file of flags names no other' : 'a line is a flag with its value, as --name=value';
  throw new CommandLineMistake(`${file}: ${why}: ${wrong.slice(0, 100)}`);
}

const isNested = (arg: string): boolean => arg === FLAG || arg.startsWith(`${FLAG}=`);

function readText(file: string): string {
  try {
    if (fs.statSync(file).size > MAX_BYTES) throw new CommandLineMistake(`${file}: is larger than ${MAX_BYTES} bytes`);
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CommandLineMistake) throw error;
    throw new CommandLineMistake(`${FLAG}: ${goFileError(error, file)}`);
  }
}
