// What Linux says of a server's worker processes, and which of them has a connection.
import fs from 'node:fs';
import { once } from 'node:events';
import http2, { type ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import type { TestServer } from './server.js';

/** Of a supervisor, in the order in which they were started. */
export function workerPids(supervisor: number): readonly number[] {
  try {
    const text = fs.readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** HTTP/2 connections to a server with two workers, one to each, in the order in which the workers were started. */
export async function connectToBoth({
  pid,
  url,
}: Pick<TestServer, 'pid' | 'url'>): Promise<readonly [ClientHttp2Session, ClientHttp2Session]> {
  const byWorker = new Map<number, ClientHttp2Session>();
  const surplus: ClientHttp2Session[] = [];
  while (byWorker.size < 2) {
    const socket = tls.connect({
      port: Number(new URL(url).port),
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    });
    await once(socket, 'secureConnect');
    const session = http2.connect(url, { createConnection: () => socket });
    session.on('error', () => undefined);
    const worker = await workerOf(pid, socket);
    if (byWorker.has(worker)) surplus.push(session);
    else byWorker.set(worker, session);
  }
  for (const session of surplus) session.destroy();
  const [first, second] = workerPids(pid).map((worker) => byWorker.get(worker));
  if (first === undefined || second === undefined) throw new Error('a worker has ended');
  return [first, second];
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
