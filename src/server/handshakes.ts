// Handshakes begin a few in a turn. Each is a signature and an agreement on keys, and clients come by the thousand when a
// server is back.
import type { Socket } from 'node:net';

/** In some three milliseconds. */
export const MOST_BEGUN = 8;

export interface HandshakesOptions {
  /** The client's first bytes are there to be read. */
  readonly begin: (socket: Socket) => void;
  /** The client left or is left before that. */
  readonly onFailure: (socket: Socket, why: string) => void;
  readonly timeoutMs: number;
}

export class Handshakes {
  #waiting: Socket[] = [];
  #next = 0;

  constructor(private readonly options: HandshakesOptions) {}

  accept(socket: Socket): void {
    const stopListening = (): void =>
      void socket.off('readable', onReadable).off('close', onClose).setTimeout(0, onTimeout);
    const fail = (why: string): void => {
      stopListening();
      this.options.onFailure(socket, why);
      socket.destroy();
    };
    const onTimeout = (): void => fail('i/o timeout');
    const onClose = (): void => fail('EOF');
    const onReadable = (): void => {
      if (socket.readableLength === 0) return fail('EOF');
      stopListening();
      this.#later(socket);
    };
    socket.on('readable', onReadable).on('close', onClose).setTimeout(this.options.timeoutMs, onTimeout);
  }

  #later(socket: Socket): void {
    if (this.#waiting.length === 0) setImmediate(this.#beginSome);
    this.#waiting.push(socket);
  }

  readonly #beginSome = (): void => {
    const end = Math.min(this.#next + MOST_BEGUN, this.#waiting.length);
    while (this.#next < end) {
      const socket = this.#waiting[this.#next++] as Socket;
      if (socket.destroyed) this.options.onFailure(socket, 'EOF');
      else this.options.begin(socket);
    }
    if (end < this.#waiting.length) return void setImmediate(this.#beginSome);
    this.#waiting = [];
    this.#next = 0;
  };
}
