import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/**
 * Whether the memory of the next write may be reused as soon as `write` has returned. TLS encrypts what it is given, or
 * copies it where it cannot yet; only the stream in front of it keeps writes, while an earlier one is under way. A socket
 * without TLS reads the memory until it calls back. test/copied-writes.test.ts checks that for each Node.js.
 */
export const copiesNextWrite = (socket: TLSSocket | Socket): boolean =>
  'encrypted' in socket && socket.encrypted && socket.writableLength === 0 && socket.writableCorked === 0;
