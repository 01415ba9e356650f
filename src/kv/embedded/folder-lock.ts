// The lock of a data folder: a socket in it that the process which has the folder open listens on. The kernel releases it with the
// process, however the process ends. Whoever connects is sent the process's number, and may ask for something in a line:
//
//   12345\n            →
//                      ←  defragment\n
//   done …\n           →
import fs from 'node:fs';
import net, { type Socket } from 'node:net';
import path from 'node:path';
import { errorText } from '../../lib/text/error-text.js';
import { KvError } from '../kv.js';
import { makePrivate } from './private-folder.js';

const LOCK = 'lock';
/** Where a path of a socket would be too long, it is reached through the open folder. */
const MAX_SOCKET_PATH = 100;
/** Of a line. */
const MAX_LINE_BYTES = 4096;
/** The process sends its number at once, unless it hangs. */
const HOLDER_TIMEOUT_MS = 5_000;

/** Does what a line asks for, and answers with a line. */
export type AnswerLine = (line: string) => Promise<string>;

export interface FolderLock {
  /** Lines are answered so from now on, and refused before. */
  answer(lines: AnswerLine): void;
  release(): Promise<void>;
}

/**
 * A socket file that nobody listens on is stale. It is renamed before it is removed, so that of two processes starting at once the
 * slower one notices that it renamed the other's socket.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const fd = fs.openSync(folder, 'r');
  const inFolder = (name: string): string => socketIn(folder, fd, name);
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      const lock = new ListeningLock(fd);
      if (await lock.listen(inFolder(LOCK))) {
        makePrivate(inFolder(LOCK));
        return lock;
      }
      const renamed = `lock.${process.pid}`;
      if (await isHeld(inFolder(LOCK))) throw locked(folder);
      fs.renameSync(path.join(folder, LOCK), path.join(folder, renamed));
      if (await isHeld(inFolder(renamed))) {
        fs.renameSync(path.join(folder, renamed), path.join(folder, LOCK));
        throw locked(folder);
      }
      fs.rmSync(path.join(folder, renamed), { force: true });
    }
    throw locked(folder);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** The process that has it open; undefined when none has, or there is no such folder. Fails when that process hangs. */
export async function folderHolder(folder: string, timeoutMs = HOLDER_TIMEOUT_MS): Promise<number | undefined> {
  const [line = ''] = await inLock(folder, (socketPath) => linesOf(socketPath, { folder, timeoutMs }));
  const pid = Number(line);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** What the process that has the folder open answers; undefined when none has it open. */
export async function askHolder(folder: string, line: string): Promise<string | undefined> {
  const [holder, answer = ''] = await inLock(folder, (socketPath) => linesOf(socketPath, { folder, line }));
  return holder === undefined ? undefined : answer;
}

/** `fd`: the folder, open. */
export function socketIn(folder: string, fd: number, name: string): string {
  const full = path.join(folder, name);
  return full.length <= MAX_SOCKET_PATH ? full : `/proc/self/fd/${fd}/${name}`;
}

class ListeningLock implements FolderLock {
  readonly #server = net.createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
  readonly #sockets = new Set<Socket>();
  #answer: AnswerLine = async () => 'refused: not yet';

  constructor(private readonly fd: number) {}

  /** False where there is such a socket already. */
  listen(socketPath: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
      );
      this.#server.listen(socketPath, () => {
        this.#server.unref();
        resolve(true);
      });
    });
  }

  answer(lines: AnswerLine): void {
    this.#answer = lines;
  }

  async release(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    fs.closeSync(this.fd);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.write(`${process.pid}\n`);
    readLines(socket, (line) => {
      const answer = line === undefined ? Promise.resolve('') : this.#answer(line);
      answer
        .catch((error: unknown) => `failed: ${errorText(error)}`)
        .then((text) => socket.end(text === '' ? '' : `${text.replaceAll('\n', ' ')}\n`))
        .catch(() => undefined);
    });
  }
}

/** Calls with the first line, or with undefined where the other side ends without one. */
function readLines(socket: Socket, first: (line: string | undefined) => void): void {
  let text = '';
  let isOver = false;
  const end = (line: string | undefined): void => {
    if (!isOver) first(line);
    isOver = true;
  };
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    const at = text.indexOf('\n');
    if (at >= 0) end(text.slice(0, at));
    else if (text.length > MAX_LINE_BYTES) socket.destroy();
  });
  socket.on('end', () => end(undefined));
  socket.on('error', () => undefined);
}

async function inLock<T>(folder: string, ask: (socketPath: string) => Promise<T[]>): Promise<T[]> {
  let fd: number;
  try {
    fd = fs.openSync(folder, 'r');
  } catch {
    return [];
  }
  try {
    return await ask(socketIn(folder, fd, LOCK));
  } finally {
    fs.closeSync(fd);
  }
}

/** Also by a process that does not answer. */
async function isHeld(socketPath: string): Promise<boolean> {
  const socket = await connect(socketPath);
  socket?.destroy();
  return socket !== undefined;
}

interface Question {
  readonly folder: string;
  /** What is asked for beside the number. */
  readonly line?: string;
  readonly timeoutMs?: number;
}

/** What is said there; nothing where nobody listens. */
async function linesOf(socketPath: string, { folder, line, timeoutMs = 0 }: Question): Promise<string[]> {
  const socket = await connect(socketPath);
  if (socket === undefined) return [];
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setTimeout(timeoutMs, () => {
      reject(new KvError('unavailable', `the process that has ${folder} open does not answer`));
      socket.destroy();
    });
    socket.on('data', (bytes) => {
      text += bytes.toString('utf8');
      if (text.length > MAX_LINE_BYTES) socket.destroy();
    });
    socket.on('close', () => resolve(text.split('\n').filter((each) => each !== '')));
    socket.end(line === undefined ? '' : `${line}\n`);
  });
}

/** Undefined where nobody listens. */
function connect(socketPath: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath);
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

const locked = (folder: string): KvError =>
  new KvError(
    'locked',
    `the data folder ${folder} is in use by another process; stop that one first, or give this one a folder of its own`,
  );
