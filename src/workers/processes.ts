// Worker processes as Node.js starts them: the same program with the same command line, distinguished by the environment.
import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { processorMs } from '../lib/scheduling/processor-time.js';
import { Channel, type Message, type Port } from './channel.js';
import { SupervisorLink } from './supervisor-link.js';
import type { Exit, WorkerProcess } from './supervisor.js';

const INDEX_VARIABLE = 'BINNACLE_WORKER';
const EARLIER_VARIABLE = 'BINNACLE_EARLIER_WORKERS';
const STARTED_VARIABLE = 'BINNACLE_SERVER_STARTED_MS';

export function startWorkerProcess(index: number, earlier: readonly number[]): WorkerProcess {
  const [, program = '', ...args] = process.argv;
  const child = fork(program, args, {
    env: {
      ...process.env,
      [INDEX_VARIABLE]: String(index),
      [EARLIER_VARIABLE]: earlier.join(' '),
      [STARTED_VARIABLE]: String(performance.timeOrigin),
    },
    // Bytes cross as they are.
    serialization: 'advanced',
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: 1, signal: null }));
  });
  const port: Port = {
    send(message, socket) {
      if (child.connected) child.send(message, socket, { keepOpen: true }, NOTHING);
    },
    onMessage: (receive) =>
      child.on('message', (message, socket) => receive(message as unknown as Message, socket as Socket | undefined)),
  };
  return { pid: child.pid ?? 0, channel: new Channel(port), exited, kill: () => void child.kill('SIGKILL') };
}

/** Undefined where this process is none that a supervisor started. A worker ends with its supervisor. */
export function linkToSupervisor(count: number): SupervisorLink | undefined {
  const index = process.env[INDEX_VARIABLE];
  const earlier = process.env[EARLIER_VARIABLE]?.split(' ').filter(Boolean).map(Number) ?? [];
  const serverStartedMs = Number(process.env[STARTED_VARIABLE]);
  for (const name of [INDEX_VARIABLE, EARLIER_VARIABLE, STARTED_VARIABLE]) delete process.env[name];
  const send = process.send?.bind(process);
  if (index === undefined || send === undefined) return undefined;
  // process.exit() would join the thread that commits, which may be waiting for this thread to go on with the commit:
  // neither would end, and the data folder would be kept from the next server.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  const port: Port = {
    send(message, socket) {
      if (process.connected) send(message, socket, {}, NOTHING);
    },
    onMessage: (receive) =>
      process.on('message', (message, socket) => receive(message as Message, socket as Socket | undefined)),
  };
  return new SupervisorLink(port, { index: Number(index), count, earlier, serverStartedMs, processorMs });
}

/** A message that cannot be sent any more: the end of the process is reported by itself. */
const NOTHING = (): void => undefined;
