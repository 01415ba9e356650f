// Two ends of a connection in memory that can be held up, as by a process that hangs.
import { Duplex } from 'node:stream';

export interface TestConnection {
  readonly owner: Duplex;
  readonly replica: Duplex;
  /** What is sent to a side that hangs arrives when it goes on. */
  hang(side: 'owner' | 'replica', hangs: boolean): void;
}

export function testConnection(): TestConnection {
  const queues = { owner: new Queue(), replica: new Queue() };
  const end = (other: 'owner' | 'replica'): Duplex => {
    const stream: Duplex = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        queues[other].push(() => ends[other].push(chunk));
        done();
      },
      destroy(error, done) {
        queues[other].push(() => ends[other].destroy());
        done(error);
      },
    });
    stream.on('error', () => undefined);
    return stream;
  };
  const ends = { owner: end('replica'), replica: end('owner') };
  return { ...ends, hang: (side, hangs) => queues[side].hang(hangs) };
}

class Queue {
  #waiting: (() => void)[] = [];
  #hangs = false;

  push(arrive: () => void): void {
    if (this.#hangs) this.#waiting.push(arrive);
    else setImmediate(arrive);
  }

  hang(hangs: boolean): void {
    this.#hangs = hangs;
    if (hangs) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const arrive of waiting) setImmediate(arrive);
  }
}
