import type { Duplex } from 'node:stream';

/**
 * Listens as to `data`, without a turn of the stream's queue for each piece: Node.js's socket pushes what it has read, and
 * while the stream flows and nothing is in the queue, it goes to `take` at once. All else goes through the queue, and so
 * would all if it were not pushed. test/direct-reads.test.ts checks that for each Node.js.
 */
export function onDirectData(socket: Duplex, take: (bytes: Buffer) => void): void {
  const queue = socket.push.bind(socket);
  socket.push = (bytes: Buffer | null) => {
    if (bytes === null || socket.readableFlowing !== true || socket.readableLength > 0) return queue(bytes);
    take(bytes);
    return true;
  };
  socket.on('data', take);
}
