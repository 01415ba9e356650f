// What Linux says of a server's worker processes, and which of them has a connection.
import fs from 'node:fs';
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

/** Resolves with the worker that has the connection from this port of a client; it is handed over after the accept. */
export async function workerOf(supervisor: number, clientPort: number): Promise<number> {
  let found: number | undefined;
  await pollUntil(() => {
    const inode = inodeOf(clientPort);
    found = inode === undefined ? undefined : workerPids(supervisor).find((pid) => holds(pid, inode));
    return found !== undefined;
  });
  return found ?? 0;
}

/** The server's end: the client's port is the remote one. */
function inodeOf(clientPort: number): string | undefined {
  const port = clientPort.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['tcp', 'tcp6']) {
    for (const line of fs.readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)) {
      const columns = line.trim().split(/ +/);
      if (columns[2]?.endsWith(`:${port}`)) return columns[9];
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
