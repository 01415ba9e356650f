// Runs a command as a test sees it: exit code and both outputs.
import { runProgram } from './program.js';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function runCommand(
  argv: readonly string[],
  { env = { HOME: '/nowhere' }, showsProgress = false }: { env?: Record<string, string>; showsProgress?: boolean } = {},
): Promise<Ended> {
  const said = { out: '', err: '' };
  const code = await runProgram(argv, {
    env,
    print: (text) => (said.out += text),
    printError: (text) => (said.err += text),
    columns: 0,
    showsProgress,
  });
  return { code, ...said };
}
