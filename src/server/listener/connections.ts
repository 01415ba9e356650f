// The open connections of a port.
import type { Socket } from 'node:net';
import { peerAddressOf } from '../../wire/peer.js';

export class Connections {
  readonly #open = new Set<Socket>();
  /** Noted as they come: of a connection that is gone the address is no longer known. */
  readonly #addresses = new WeakMap<Socket, string>();

  add(socket: Socket): void {
    this.#open.add(socket);
    this.#addresses.set(socket, socket.remoteAddress === undefined ? 'a client that is gone' : peerAddressOf(socket));
    socket.on('close', () => this.#open.delete(socket));
    socket.on('error', NOTHING);
  }

  /** The client's address, also of a connection that has ended. */
  addressOf(socket: Socket): string | undefined {
    return this.#addresses.get(socket);
  }

  /** Waits until all have ended; destroys those that are left after the time. */
  async ended(timeoutMs: number): Promise<void> {
    await allClosed(this.#open, timeoutMs);
    for (const socket of this.#open) socket.destroy();
  }
}

/** Of errors that end a connection, which is all there is to do about them. One for all: thousands are kept. */
const NOTHING = (): void => undefined;

function allClosed(sockets: ReadonlySet<Socket>, timeoutMs: number): Promise<void> {
  if (sockets.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    for (const socket of sockets) {
      socket.on('close', () => {
        if (sockets.size > 0) return;
        clearTimeout(timer);
        resolve();
      });
    }
  });
}
