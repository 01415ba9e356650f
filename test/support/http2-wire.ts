// HTTP/2 spoken by hand over TLS, for clients that others would not write.
import tls, { type TLSSocket } from 'node:tls';
import { Flag, FRAME_HEAD_BYTES, FrameType, read31, read32 } from '../../src/wire/http2/frames.js';
import { PREFACE } from '../../src/wire/http2/frame-reader.js';
import { frame, settings } from '../../src/wire/http2/testing.js';

export interface Wire {
  readonly socket: TLSSocket;
  send(...bytes: readonly Buffer[]): void;
  /** Resolves with the first frame that is wanted, of those that come from now on; undefined when the end comes first. */
  until(wanted: (type: number, stream: number, payload: Buffer, flags: number) => boolean): Promise<Seen | undefined>;
  /** The code of GOAWAY, or undefined when the connection ended without a word. */
  readonly goaway: Promise<number | undefined>;
}

export interface Seen {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Connects and says the first words. */
export async function speakHttp2(options: tls.ConnectionOptions): Promise<Wire> {
  const socket = tls.connect({ ALPNProtocols: ['h2'], ...options });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  let rest: Buffer = Buffer.alloc(0);
  let waiting: { wanted: Parameters<Wire['until']>[0]; resolve: (seen: Seen | undefined) => void }[] = [];
  let tellGoaway = (_: number | undefined): void => undefined;
  const goaway = new Promise<number | undefined>((resolve) => (tellGoaway = resolve));
  const accept = (seen: Seen): void => {
    if (seen.type === FrameType.goaway) tellGoaway(read32(seen.payload, 4));
    waiting = waiting.filter(({ wanted, resolve }) => {
      if (!wanted(seen.type, seen.stream, seen.payload, seen.flags)) return true;
      resolve(seen);
      return false;
    });
  };
  socket.on('data', (bytes: Buffer) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + rest.readUIntBE(0, 3);
      if (rest.length < end) break;
      const payload = rest.subarray(FRAME_HEAD_BYTES, end);
      accept({ type: rest[3] as number, flags: rest[4] as number, stream: read31(rest, 5), payload });
      rest = rest.subarray(end);
    }
  });
  socket.on('close', () => {
    tellGoaway(undefined);
    for (const { resolve } of waiting) resolve(undefined);
  });
  socket.write(Buffer.concat([PREFACE, settings(), frame(FrameType.settings, Flag.ack, 0)]));
  return {
    socket,
    goaway,
    send: (...bytes) => void socket.write(Buffer.concat(bytes)),
    until: (wanted) => new Promise((resolve) => waiting.push({ wanted, resolve })),
  };
}
