import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { faultTime } from '../support/fault-time.js';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { workerPids } from '../support/worker-processes.js';
import type { Random } from './random.js';
import type { Target, TargetServer } from './target.js';

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1500;
/** Beyond the lease of a worker process that shares the store. */
const MAX_WORKER_PAUSE_MS = 3000;
/** Longer than members wait for each other before they elect. */
const MAX_PARTITION_MS = 6000;
const MIN_SYNC_MS = 20;
const MAX_SYNC_MS = 400;
/** Within the time for which history is kept, beyond it, and by days. */
const CLOCK_JUMPS_MS = [60_000, 3_600_000, 3 * 86_400_000];

export type FaultName =
  | 'kill'
  | 'kill-worker'
  | 'pause-worker'
  | 'pause'
  | 'clock'
  | 'slow-disk'
  | 'kill-etcd'
  | 'pause-etcd'
  | 'cut-etcd'
  | 'silent-etcd'
  | 'partition-etcd'
  | 'full-disk'
  | 'damage';

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
    name: 'kill-worker',
    missing: ({ workers }) => (workers > 1 ? undefined : 'there is one process'),
    async strike(target, random) {
      const { pid, log } = await random.pick(target.servers).running();
      // Before that a worker that ends is a failed start.
      await pollUntil(() => log().includes('All worker processes have started'));
      const victim = random.pick(workerPids(pid));
      process.kill(victim, 'SIGKILL');
      await pollUntil(() => workerPids(pid).length === target.workers && !workerPids(pid).includes(victim));
    },
  },
  {
    name: 'pause-worker',
    missing: ({ workers }) => (workers > 1 ? undefined : 'there is one process'),
    async strike(target, random) {
      const { pid } = await random.pick(target.servers).running();
      const victim = random.pick(workerPids(pid));
      process.kill(victim, 'SIGSTOP');
      await faultTime(random.between(MIN_PAUSE_MS, MAX_WORKER_PAUSE_MS));
      // It may have been taken for hung, and replaced.
      if (workerPids(pid).includes(victim)) process.kill(victim, 'SIGCONT');
    },
  },
  {
    name: 'pause',
    missing: () => undefined,
    async strike(target, random) {
      const server = random.pick(target.servers);
      await server.signal('SIGSTOP');
      await faultTime(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
      await server.signal('SIGCONT');
    },
  },
  {
    name: 'clock',
    missing: () => undefined,
    async strike(target, random) {
      const farMs = random.pick(CLOCK_JUMPS_MS);
      await random.pick(target.servers).shiftClock(random.between(-farMs, farMs));
    },
  },
  {
    name: 'slow-disk',
    missing: () => (canTrace() ? undefined : 'strace is not here, or not allowed'),
    async strike(target, random) {
      const pid = target.etcd.length > 0 ? random.pick(target.etcd).pid() : await pidOf(random.pick(target.servers));
      const syncMs = random.between(MIN_SYNC_MS, MAX_SYNC_MS);
      await slowSyncs(pid, syncMs, random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
    },
  },
  {
    name: 'kill-etcd',
    missing: needsEtcd,
    async strike({ etcd }, random) {
      const member = random.pick(etcd);
      await member.kill();
      await member.start();
    },
  },
  {
    name: 'pause-etcd',
    missing: needsEtcd,
    async strike({ etcd }, random) {
      const member = random.pick(etcd);
      member.pause();
      await faultTime(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
      member.resume();
    },
  },
  {
    name: 'cut-etcd',
    missing: needsNetwork,
    async strike({ network }) {
      network?.cutClients();
    },
  },
  {
    name: 'silent-etcd',
    missing: needsNetwork,
    async strike({ etcd, network }, random) {
      network?.silenceClients(random.between(0, etcd.length - 1));
      await faultTime(random.between(MIN_PAUSE_MS, MAX_PARTITION_MS));
      network?.heal();
    },
  },
  {
    name: 'partition-etcd',
    missing: needsNetwork,
    async strike({ etcd, network }, random) {
      network?.partition(random.between(0, etcd.length - 1));
      await faultTime(random.between(MIN_PAUSE_MS, MAX_PARTITION_MS));
      network?.heal();
    },
  },
  {
    name: 'full-disk',
    missing: ({ disk, etcd }) =>
      etcd.length > 0 ? 'it is of the embedded store' : disk === undefined ? 'mounting is not allowed here' : undefined,
    async strike({ disk = '' }, random) {
      const filler = path.join(disk, 'filler');
      fillDisk(filler);
      await faultTime(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
      fs.rmSync(filler);
    },
  },
  {
    name: 'damage',
    missing: ({ folder }) => (folder === undefined ? 'it is of the embedded store' : undefined),
  },
];

function needsEtcd({ etcd }: Target): string | undefined {
  return etcd.length === 0 ? 'there is no etcd' : undefined;
}

function needsNetwork({ network }: Target): string | undefined {
  return network === undefined ? 'there are no members of etcd with a network' : undefined;
}

const pidOf = async (server: TargetServer): Promise<number> => (await server.running()).pid;

/** Other processes than children may be traced. */
function canTrace(): boolean {
  if (spawnSync('strace', ['-V']).status !== 0) return false;
  const scope = '/proc/sys/kernel/yama/ptrace_scope';
  return process.getuid?.() === 0 || !fs.existsSync(scope) || fs.readFileSync(scope, 'utf8').startsWith('0');
}

/** Every sync of the process takes longer, for a while. */
async function slowSyncs(pid: number, syncMs: number, forMs: number): Promise<void> {
  const inject = `fsync,fdatasync:delay_enter=${syncMs * 1000}`;
  const tracer = spawn('strace', ['-f', '-o', '/dev/null', '-e', `inject=${inject}`, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => tracer.once('exit', resolve));
  // It reports that it has attached, or why it cannot: the process may have ended.
  await Promise.race([new Promise((resolve) => tracer.stderr.once('data', resolve)), ended]);
  tracer.stderr.resume();
  await faultTime(forMs);
  tracer.kill('SIGINT');
  await ended;
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
