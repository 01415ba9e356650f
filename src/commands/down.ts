import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTopic } from '../options/flag-table.js';
import { type Command, CommandFailure, EXIT } from './command.js';
import { DATA_DIR_FLAG } from './data-dir-flag.js';
import { LocalServer } from './local-server.js';
import { readFlags } from './read-flags.js';

/** A server ends when what is in flight is answered: requests have 60 s. */
const MAX_WAIT_MS = 90_000;
const LOOK_MS = 50;

const topic = defineTopic({ key: 'down', title: 'down', flags: { 'data-dir': DATA_DIR_FLAG } });

export const down: Command = {
  name: 'down',
  summary: 'stops the server of this machine; its data stay',
  usage: ['down [--data-dir=DIR]'],
  about: `Stops the server that \`binnacle up\` started, and waits for its end. Requests in flight are answered first. The data
stay in the folder for the next \`binnacle up\`.`,
  topics: [topic],
  words: [],
  async run(args, { env, print }) {
    const server = new LocalServer(readFlags([topic], args).values.down.dataDir, env);
    const pid = await server.pid();
    if (pid === undefined) {
      print(`Nothing runs in ${server.dataDir}\n`);
      return EXIT.done;
    }
    terminate(pid);
    for (let waitedMs = 0; (await server.pid()) === pid; waitedMs += LOOK_MS) {
      if (waitedMs >= MAX_WAIT_MS) throw new CommandFailure(`process ${pid} has not ended; see ${server.logFile}`);
      await delay(LOOK_MS);
    }
    print(`Stopped. The data stay in ${server.dataDir}\n`);
    return EXIT.done;
  },
};

function terminate(pid: number): void {
  if (!isServer(pid))
    throw new CommandFailure(`process ${pid} is none of this machine, or not a server: stop it where it was started`);
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM') throw new CommandFailure(`process ${pid} belongs to another user`, { cause: error });
    if (code !== 'ESRCH') throw error;
  }
}

/** A folder that a container shares is locked by a process whose number means another one out here. */
function isServer(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.some((word) => /(?:binnacle|kube-apiserver)$/.test(word));
  } catch {
    return false;
  }
}
