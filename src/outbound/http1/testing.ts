// The other end of a connection, played: what was sent to it, and what it says, without sockets.
import { Duplex } from 'node:stream';

export class PlayedServer {
  /** All that was sent to it. */
  received = '';
  readonly socket: Duplex;

  /** `answer` is called with each received piece. */
  constructor(answer?: (piece: string, server: PlayedServer) => void) {
    this.socket = new Duplex({
      read: () => undefined,
      write: (piece: Buffer, _encoding, done) => {
        const text = piece.toString('latin1');
        this.received += text;
        done();
        if (answer !== undefined) setImmediate(() => answer(text, this));
      },
    });
    this.socket.on('error', () => undefined);
  }

  says(text: string): void {
    if (!this.socket.destroyed) this.socket.push(Buffer.from(text, 'latin1'));
  }

  hangsUp(): void {
    if (!this.socket.destroyed) this.socket.push(null);
  }
}
