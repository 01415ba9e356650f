// Starts `binnacle serve-clusters` as a child. It ends with its standard input, and so with this process, however that ends.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { HostReady } from '../protocol/control.js';
import { ControlClient } from './control-client.js';

const PROGRAM_FILE = path.join(__dirname, '..', 'bin', 'binnacle');

export interface Host {
  readonly control: ControlClient;
  readonly pid: number;
  /** Resolves with how it ended; all that it had is removed by then. */
  readonly ended: Promise<string>;
  /** Ends it, with all its clusters. */
  end(): Promise<void>;
}

/** `detach`: it stays when this process ends, until SIGTERM or the end of its last cluster. */
export async function startHost({ detach = false }: { detach?: boolean } = {}): Promise<Host> {
  const child = spawn(process.execPath, [PROGRAM_FILE, 'serve-clusters', ...(detach ? ['--detach'] : [])], {
    stdio: ['pipe', 'pipe', detach ? 'ignore' : 'inherit'],
    detached: detach,
    env: hostEnvironment(),
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  // Writing nothing, it matters only that it is open.
  child.stdin.on('error', () => undefined);
  const { control, pid } = await readReady(child.stdout, exited);
  const folder = path.dirname(control);
  const ended = exited.then((how) => {
    fs.rmSync(folder, { recursive: true, force: true });
    return how;
  });
  release(child);
  const whenEnded = (): Promise<string> => {
    // Who waits for it is kept alive by it.
    child.ref();
    return ended;
  };
  return {
    control: new ControlClient(control, whenEnded),
    pid,
    ended,
    async end() {
      if (detach) child.kill('SIGTERM');
      else child.stdin.end();
      await whenEnded();
    },
  };
}

/** Options for the test runner's own Node.js are not for the server's. */
function hostEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
  return env;
}

async function readReady(output: Readable, exited: Promise<string>): Promise<HostReady> {
  const lines = createInterface({ input: output });
  const line = new Promise<string>((resolve) => lines.once('line', resolve));
  const first = await Promise.race([line.then((text) => ({ text })), exited.then((how) => ({ how }))]);
  lines.close();
  if ('how' in first) throw new Error(`binnacle serve-clusters did not start: ${first.how}`);
  return JSON.parse(first.text) as HostReady;
}

/** A process that has nothing else to do ends, and its host with it. */
function release(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as Socket | null)?.unref();
}
