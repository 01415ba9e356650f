// The policy file of mode ABAC: a policy a line, with remarks and empty lines between.
import fs from 'node:fs';
import { errorText } from '../../lib/text/error-text.js';
import { goFileError } from '../../lib/go/file-error.js';
import { type AbacPolicy, parsePolicy } from './policy.js';

/** kube-apiserver's reader accepts no longer lines. */
const MAX_LINE_BYTES = 64 * 1024;

/** Throws an Error that names the file, the line and what is wrong with it. */
export function readPolicyFile(path: string): AbacPolicy[] {
  const where = `error reading policy file ${path}`;
  const policies: AbacPolicy[] = [];
  for (const [index, line] of linesOf(path, where).entries()) {
    if (Buffer.byteLength(line) >= MAX_LINE_BYTES) throw new Error(`${where}: bufio.Scanner: token too long`);
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    try {
      policies.push(parsePolicy(line));
    } catch (error) {
      throw new Error(`${where}, line ${index + 1}: ${line}: ${errorText(error)}`, { cause: error });
    }
  }
  return policies;
}

function linesOf(path: string, where: string): string[] {
  try {
    return fs
      .readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  } catch (error) {
    const text = goFileError(error, path);
    throw new Error(text.startsWith('open ') ? text : `${where}: ${text}`, { cause: error });
  }
}
