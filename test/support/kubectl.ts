// The real kubectl, as tools/fetch-test-binaries.mjs fetched it or as it is installed.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const TIMEOUT_MS = 30_000;

export const NO_KUBECTL = 'there is no kubectl: run `node tools/fetch-test-binaries.mjs`';

/** Undefined when there is none. */
export function kubectlProgram(): string | undefined {
  const folders = [path.join(root, '.cache', 'bin'), ...(process.env['PATH'] ?? '').split(path.delimiter)];
  return folders.map((folder) => path.join(folder, 'kubectl')).find((file) => fs.existsSync(file));
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  /** What goes to its standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The exit code it must have. */
  readonly code?: number;
}

export type Kubectl = (args: string, options?: RunOptions) => Promise<Ran>;

/** Runs kubectl in `folder` with a home of its own. Words in single quotes are one argument. */
export function kubectlWith(program: string, kubeconfig: string, folder: string): Kubectl {
  return (args, { input, env, code = 0 } = {}) =>
    new Promise((resolve, reject) => {
      const words = [...args.matchAll(/'([^']*)'|([^\s']+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      const child = execFile(
        program,
        words,
        {
          cwd: folder,
          timeout: TIMEOUT_MS,
          env: { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: kubeconfig, TERM: 'dumb', ...env },
        },
        (error, out, err) => {
          const got = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          if (got === code) resolve({ code: got, out, err });
          else reject(new Error(`kubectl ${args}: exit ${got} instead of ${code}\n${out}${err}`));
        },
      );
      child.stdin?.end(input ?? '');
    });
}
