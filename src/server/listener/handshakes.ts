// Handshakes begin for a few milliseconds of an event loop iteration. Each is a signature and an agreement on keys, and
// clients come by the thousand when a server is back.
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../lib/async/clock.js';
import { TimeSlice } from '../../lib/scheduling/time-slice.js';
import { ClientHelloReader } from './client-hello.js';

export interface HandshakesOptions {
  /** The client's first message is there, to be read once more from the socket. */
  readonly begin: (socket: Socket, read: ClientHelloReader) => void;
  /** The client left or is left before that. */
  readonly onFailure: (socket: Socket, why: string) => void;
  readonly timeoutMs: number;
  readonly clock?: Clock;
  readonly nowMs?: () => number;
}

export class Handshakes {
  readonly #waiting: { readonly socket: Socket; readonly read: ClientHelloReader }[] = [];
  readonly #share: TimeSlice;

  constructor(private readonly options: HandshakesOptions) {
    this.#share = new TimeSlice(options.nowMs);
  }

  accept(socket: Socket): void {
    const read = new ClientHelloReader();
    const stopListening = (): void => {
      stopTimer();
      socket.off('readable', onReadable).off('close', onClose);
    };
    const fail = (why: string): void => {
      stopListening();
      this.options.onFailure(socket, why);
      socket.destroy();
    };
    const onTimeout = (): void => fail('i/o timeout');
    const onClose = (): void => fail('EOF');
    const onReadable = (): void => {
      const piece = socket.read() as Buffer | null;
      if (piece === null) return fail('EOF');
      if (!read.push(piece)) return;
      stopListening();
      socket.unshift(read.bytes);
      this.#later(socket, read);
    };
    socket.on('readable', onReadable).on('close', onClose);
    // After `socket.setTimeout` each read and write moves its timer for as long as the connection lasts, even a cleared one.
    const stopTimer = (this.options.clock ?? systemClock).after(this.options.timeoutMs, onTimeout);
  }

  #later(socket: Socket, read: ClientHelloReader): void {
    if (this.#waiting.length === 0) setImmediate(this.#beginNext);
    this.#waiting.push({ socket, read });
  }

  readonly #beginNext = (): void => {
    if (this.#share.exhausted) return void setImmediate(this.#beginNext);
    const [next] = this.#waiting;
    if (next === undefined) return;
    if (next.socket.destroyed) this.options.onFailure(next.socket, 'EOF');
    else this.options.begin(next.socket, next.read);
    // Node reads the client's first bytes, and does the work, in the next tick: the time is looked at after it.
    process.nextTick(this.#afterOne);
  };

  readonly #afterOne = (): void => {
    this.#waiting.shift();
    if (this.#waiting.length > 0) this.#beginNext();
  };
}
