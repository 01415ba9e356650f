import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from './random.js';
import type { Target } from './target.js';

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1500;

export type FaultName = 'kill' | 'pause' | 'kill-etcd' | 'pause-etcd' | 'full-disk' | 'damage';

export interface Fault {
  readonly name: FaultName;
  /** Why it cannot be had on this target. */
  readonly missing: (target: Target) => string | undefined;
  /** It is over when this is: servers run again. Absent for what is done after a round. */
  readonly strike?: (target: Target, random: Random) => Promise<void>;
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    missing: () => undefined,
    async strike(target, random) {
      const server = random.pick(target.servers);
      await server.kill();
      await server.start();
    },
  },
  {
    name: 'pause',
    missing: () => undefined,
    async strike(target, random) {
      const server = random.pick(target.servers);
      await server.signal('SIGSTOP');
      await delay(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
      await server.signal('SIGCONT');
    },
  },
  {
    name: 'kill-etcd',
    missing: needsEtcd,
    async strike({ etcd }) {
      await etcd?.kill();
      await etcd?.start();
    },
  },
  {
    name: 'pause-etcd',
    missing: needsEtcd,
    async strike({ etcd }, random) {
      etcd?.pause();
      await delay(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
      etcd?.resume();
    },
  },
  {
    name: 'full-disk',
    missing: ({ disk, etcd }) =>
      etcd !== undefined
        ? 'it is of the embedded store'
        : disk === undefined
          ? 'mounting is not allowed here'
          : undefined,
    async strike({ disk = '' }, random) {
      const filler = path.join(disk, 'filler');
      fillDisk(filler);
      await delay(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
      fs.rmSync(filler);
    },
  },
  {
    name: 'damage',
    missing: ({ folder }) => (folder === undefined ? 'it is of the embedded store' : undefined),
  },
];

function needsEtcd({ etcd }: Target): string | undefined {
  return etcd === undefined ? 'there is no etcd' : undefined;
}

function fillDisk(file: string): void {
  const handle = fs.openSync(file, 'w');
  const piece = Buffer.alloc(64 * 1024);
  try {
    for (;;) fs.writeSync(handle, piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    fs.closeSync(handle);
  }
}
