// Streams a request's body from its source, no faster than the connection accepts it.
import type { Duplex, Readable } from 'node:stream';
import { drained } from '../../lib/async/drained.js';
import { OutboundError } from '../outbound-error.js';

/** In chunks unless the head stated a length, which it then must have. */
export async function sendStream(source: Readable, socket: Duplex, statedBytes: number | undefined): Promise<void> {
  const onClose = (): void => void source.destroy();
  socket.once('close', onClose);
  try {
    let bytes = 0;
    for await (const piece of source as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (statedBytes !== undefined && bytes > statedBytes) throw lengthError(statedBytes, bytes);
      if (piece.length === 0) continue;
      if (statedBytes === undefined) writeChunk(socket, piece);
      else socket.write(piece);
      await drained(socket);
    }
    if (statedBytes === undefined) socket.write('0\r\n\r\n');
    else if (bytes < statedBytes) throw lengthError(statedBytes, bytes);
  } finally {
    socket.off('close', onClose);
    source.destroy();
  }
}

function writeChunk(socket: Duplex, piece: Buffer): void {
  socket.cork();
  socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
  socket.write(piece);
  socket.write('\r\n', 'latin1');
  socket.uncork();
}

const lengthError = (stated: number, bytes: number): OutboundError =>
  new OutboundError('protocol', `http: ContentLength=${stated} with Body length ${bytes}`);
