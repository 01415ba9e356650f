// What Linux says of a server's worker processes, and which of them has a connection.
import fs from 'node:fs';
import type { Socket } from 'node:net';
import { pollUntil } from '../../src/lib/testing/poll-until.js';

/** Of a supervisor, in the order in which they were started. */
export function workerPids(supervisor: number): readonly number[] {
  try {
    const text = fs.readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Resolves with the worker that has the other end of a client's connection; it is handed over after the accept. */
export async function workerOf(supervisor: number, client: Socket): Promise<number> {
  let found: number | undefined;
  await pollUntil(() => {
    const inode = inodeOf(client);
    found = inode === undefined ? undefined : workerPids(supervisor).find((pid) => holds(pid, inode));
    return found !== undefined;
  });
  return found ?? 0;
}

function inodeOf({ localPort, remotePort }: Socket): string | undefined {
  const hex = (port = 0): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of ['tcp', 'tcp6']) {
    for (const line of fs.readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/ +/);
      // Seen from the server.
      if (local.endsWith(hex(remotePort)) && remote.endsWith(hex(localPort))) return inode;
    }
  }
  return undefined;
}

function holds(pid: number, inode: string): boolean {
  try {
    return fs
      .readdirSync(`/proc/${pid}/fd`)
      .some((fd) => fs.readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
  } catch {
    // A descriptor or the process is gone meanwhile.
    return false;
  }
}
