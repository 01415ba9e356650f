// Handshakes begin for a few milliseconds of an event loop iteration. Each is a signature and an agreement on keys, and
// clients come by the thousand when a server is back.
import type { Socket } from 'node:net';
import { TimeSlice } from '../../lib/scheduling/time-slice.js';

export interface HandshakesOptions {
  /** The client's first bytes are there to be read. */
  readonly begin: (socket: Socket) => void;
  /** The client left or is left before that. */
  readonly onFailure: (socket: Socket, why: string) => void;
  readonly timeoutMs: number;
  readonly nowMs?: () => number;
}

export class Handshakes {
  readonly #waiting: Socket[] = [];
  readonly #share: TimeSlice;

  constructor(private readonly options: HandshakesOptions) {
    this.#share = new TimeSlice(options.nowMs);
  }

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
    if (this.#waiting.length === 0) setImmediate(this.#beginNext);
    this.#waiting.push(socket);
  }

  readonly #beginNext = (): void => {
    if (this.#share.exhausted) return void setImmediate(this.#beginNext);
    const socket = this.#waiting[0] as Socket;
    if (socket.destroyed) this.options.onFailure(socket, 'EOF');
    else this.options.begin(socket);
    // Node reads the client's first bytes, and does the work, in the next tick: the time is looked at after it.
    process.nextTick(this.#afterOne);
  };

  readonly #afterOne = (): void => {
    this.#waiting.shift();
    if (this.#waiting.length > 0) this.#beginNext();
  };
}
