// Channels between processes, in one process.
import type { Socket } from 'node:net';
import type { Message, Port } from './channel.js';

/** Two ends of a channel; messages arrive in the next microtask. */
export function ports(): readonly [Port, Port] {
  const receivers: ((message: Message, socket: Socket | undefined) => void)[] = [];
  const port = (own: number, other: number): Port => ({
    send: (message, socket) => queueMicrotask(() => receivers[other]?.(message, socket)),
    onMessage: (receive) => (receivers[own] = receive),
  });
  return [port(0, 1), port(1, 0)];
}
