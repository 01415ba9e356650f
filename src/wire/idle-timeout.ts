import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../lib/async/clock.js';

/** An idle connection is found after its time, and at most this part of it later. */
const LOOKS = 3;

/**
 * Emits `timeout` at a socket when for so long nothing came and no write began, and then again after as long. The answer
 * stops it, and so does the socket's end. It looks now and then at what the socket has counted, where `socket.setTimeout`
 * moves a timer at each read and write: a fifth of the functions that an event for one connection passes through.
 */
export function emitTimeouts(socket: Socket, idleMs: number, clock: Clock = systemClock): () => void {
  const transferred = (): number => socket.bytesRead + socket.bytesWritten;
  let seen = transferred();
  let unchanged = 0;
  const look = (): void => {
    stop = clock.after(idleMs / LOOKS, look);
    const now = transferred();
    unchanged = now === seen ? unchanged + 1 : 0;
    seen = now;
    if (unchanged < LOOKS) return;
    unchanged = 0;
    socket.emit('timeout');
  };
  let stop = clock.after(idleMs / LOOKS, look);
  const stopAny = (): void => stop();
  socket.once('close', stopAny);
  return stopAny;
}
