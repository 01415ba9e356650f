// Frames as bytes, RFC 9113, section 4: three of length, one each of type and flags, four of the stream's id, the payload.
import type { ByteWriter } from '../byte-writer.js';
import type { ErrorCode } from './error-code.js';

export const FRAME_HEAD_BYTES = 9;
export const DEFAULT_FRAME_BYTES = 16_384;
export const MAX_FRAME_BYTES = 0xffffff;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 0x7fffffff;

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const Flag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  /** 0: of the connection. */
  readonly stream: number;
}

/** Puts a head before its payload of `length`. Room for both is there already. */
// hot: twice for each answer.
export function putFrameHead(out: ByteWriter, length: number, head: FrameHead): void {
  writeFrameHead(out.bytes, out.at, length, head);
  out.at += FRAME_HEAD_BYTES;
}

/** Writes a head where it was left free. */
export function writeFrameHead(bytes: Buffer, at: number, length: number, { type, flags, stream }: FrameHead): void {
  bytes[at] = length >>> 16;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  put32(bytes, at + 5, stream);
}

export function putResetStream(out: ByteWriter, stream: number, code: ErrorCode): void {
  out.ensure(FRAME_HEAD_BYTES + 4);
  putFrameHead(out, 4, { type: FrameType.resetStream, flags: 0, stream });
  put32(out.bytes, out.at, code);
  out.at += 4;
}

export function putWindowUpdate(out: ByteWriter, stream: number, increment: number): void {
  out.ensure(FRAME_HEAD_BYTES + 4);
  putFrameHead(out, 4, { type: FrameType.windowUpdate, flags: 0, stream });
  put32(out.bytes, out.at, increment);
  out.at += 4;
}

export function putPingAck(out: ByteWriter, payload: Buffer, start: number): void {
  out.ensure(FRAME_HEAD_BYTES + 8);
  putFrameHead(out, 8, { type: FrameType.ping, flags: Flag.ack, stream: 0 });
  out.put(payload, start, start + 8);
}

/** The payload is all zeros: there is one at a time. */
export function putPing(out: ByteWriter): void {
  out.ensure(FRAME_HEAD_BYTES + 8);
  putFrameHead(out, 8, { type: FrameType.ping, flags: 0, stream: 0 });
  out.bytes.fill(0, out.at, out.at + 8);
  out.at += 8;
}

export function putGoaway(out: ByteWriter, lastStream: number, code: ErrorCode, why: string): void {
  out.ensure(FRAME_HEAD_BYTES + 8 + why.length);
  putFrameHead(out, 8 + why.length, { type: FrameType.goaway, flags: 0, stream: 0 });
  put32(out.bytes, out.at, lastStream);
  put32(out.bytes, out.at + 4, code);
  out.at += 8;
  out.putLatin1(why);
}

function put32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Without the reserved bit in front. */
export const read31 = (bytes: Buffer, at: number): number => read32(bytes, at) & 0x7fffffff;

export const read32 = (bytes: Buffer, at: number): number =>
  (((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)) >>>
  0;
