// The program behind `binnacle serve-clusters`: many small servers in one process, started and stopped by a control socket.
// One process, because loading the program is most of a start: the second cluster takes a tenth of a second, and twenty
// take the memory of two programs.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { errorText } from '../../lib/text/error-text.js';
import { CommandLineMistake, parseFlags } from '../../options/parse-flags.js';
import { keepHeap } from '../../server/lifecycle/keep-heap.js';
import type { HostReady } from '../protocol/control.js';
import { SERVE_CLUSTERS, serveClustersTopic } from '../protocol/serve-clusters-flags.js';
import { Clusters } from './clusters.js';
import { serveControl } from './control-server.js';

const WRONG_USAGE = 2;
const CRASHED = 2;

export async function serveClusters(args: readonly string[]): Promise<void> {
  const detach = readDetach(args);
  if (detach === undefined) return;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-clusters-'));
  // Whatever ends the process, short of SIGKILL, nothing of it is left; after SIGKILL whoever started it removes the folder.
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : errorText(error)}\n`);
    process.exit(CRASHED);
  });
  const end = (): void => process.exit(0);
  process.on('SIGTERM', end);
  process.on('SIGHUP', end);
  // Ctrl-C is for the command in the same terminal; when that ends, so does this.
  process.on('SIGINT', () => undefined);
  if (!detach) process.stdin.on('end', end).on('error', end).resume();
  const clusters = new Clusters({ folder, onEmpty: () => (detach ? void control.close().then(end) : undefined) });
  const ready: HostReady = { control: path.join(folder, 'control.sock'), pid: process.pid };
  const control = await serveControl(ready, clusters);
  keepHeap(new AbortController().signal);
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

function readDetach(args: readonly string[]): boolean | undefined {
  try {
    const { values, positional } = parseFlags([serveClustersTopic], args);
    if (positional.length > 0) throw new CommandLineMistake(`unexpected argument: ${positional[0]?.slice(0, 200)}`);
    return values.serveClusters.detach;
  } catch (error) {
    if (!(error instanceof CommandLineMistake)) throw error;
    process.stderr.write(`Error: ${error.message}\n\`binnacle help ${SERVE_CLUSTERS}\` tells how it is used.\n`);
    process.exitCode = WRONG_USAGE;
    return undefined;
  }
}
