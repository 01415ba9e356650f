// `--output`: text for people or JSON for programs.
import { CommandLineMistake } from '../options/parse-flags.js';

export const OUTPUT_FLAG = { type: 'string', default: 'text', help: 'text or json.' } as const;

export function wantsJson(output: string): boolean {
  if (output === 'json' || output === 'text') return output === 'json';
  throw new CommandLineMistake(`--output is text or json, not ${output.slice(0, 40)}`);
}
