// Which process has a data folder open: the one that listens on the socket `lock` in it, and says its number there.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/** Where a path of a socket would be too long, it is reached through the open folder. */
const MAX_SOCKET_PATH = 100;
/** More digits than a process number has. */
const MAX_ANSWER_BYTES = 32;

/** Undefined when no process has it open, or there is no such folder. */
export async function folderHolder(folder: string): Promise<number | undefined> {
  let fd: number;
  try {
    fd = fs.openSync(folder, 'r');
  } catch {
    return undefined;
  }
  try {
    const pid = Number(await readLine(socketIn(folder, fd, 'lock')));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } finally {
    fs.closeSync(fd);
  }
}

/** `fd`: the folder, open. */
export function socketIn(folder: string, fd: number, name: string): string {
  const full = path.join(folder, name);
  return full.length <= MAX_SOCKET_PATH ? full : `/proc/self/fd/${fd}/${name}`;
}

/** Empty where nobody listens. */
function readLine(socketPath: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = net.connect(socketPath);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (text.length > MAX_ANSWER_BYTES) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text.trim()));
  });
}
