// The frames of SPDY/3.1, as far as kubelets speak it.
//
//     control  1 | version 15 | type 16 | flags 8 | length 24 | payload
//     data     0 | stream 31            | flags 8 | length 24 | bytes

export const CONTROL = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7 } as const;

const FLAG_FIN = 1;
export const HEAD_BYTES = 8;
export const MAX_DATA_BYTES = 0xff_ffff;
const VERSION = 0x8003;
/** Resetting a stream because nobody wants it any more. */
export const CANCEL = 5;

export interface FrameHead {
  /** Of a control frame. */
  readonly type: number | undefined;
  /** Of a data frame. */
  readonly stream: number;
  readonly fin: boolean;
  readonly length: number;
}

export function readHead(bytes: Buffer): FrameHead {
  const isControl = (bytes.readUInt8(0) & 0x80) !== 0;
  return {
    type: isControl ? bytes.readUInt16BE(2) : undefined,
    stream: isControl ? 0 : bytes.readUInt32BE(0),
    fin: (bytes.readUInt8(4) & FLAG_FIN) !== 0,
    length: bytes.readUIntBE(5, 3),
  };
}

export function dataHead(stream: number, length: number, fin: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(stream, 0);
  head.writeUIntBE(length, 5, 3);
  head.writeUInt8(fin ? FLAG_FIN : 0, 4);
  return head;
}

export function controlFrame(type: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + payload.length);
  frame.writeUInt16BE(VERSION, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUIntBE(payload.length, 5, 3);
  payload.copy(frame, HEAD_BYTES);
  return frame;
}

export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4));
  return bytes;
}

/** Stream, the one it belongs to, and its priority before the headers. `first`: the connection's first headers. */
export const synStream = (stream: number, headers: Readonly<Record<string, string>>, first: boolean): Buffer =>
  controlFrame(CONTROL.synStream, Buffer.concat([words(stream, 0), Buffer.alloc(2), headerBlock(headers, first)]));

const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
/** What makes the reader hand out all that came before. */
const FLUSH = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);

/**
 * All header blocks of a connection are one zlib stream. A few short words are not worth packing: they are stored in it
 * as they are, which every reader of zlib understands, and which needs neither state nor the protocol's dictionary.
 */
function headerBlock(headers: Readonly<Record<string, string>>, first: boolean): Buffer {
  const entries = Object.entries(headers);
  const pieces = [words(entries.length)];
  for (const [name, value] of entries) {
    for (const text of [name.toLowerCase(), value]) pieces.push(words(Buffer.byteLength(text)), Buffer.from(text));
  }
  const plain = Buffer.concat(pieces);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(plain.length, 1);
  stored.writeUInt16LE(~plain.length & 0xffff, 3);
  return Buffer.concat([...(first ? [ZLIB_HEAD] : []), stored, plain, FLUSH]);
}
