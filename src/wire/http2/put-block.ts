import { Flag, FRAME_HEAD_BYTES, FrameType, putFrameHead, writeFrameHead } from './frames.js';
import type { Output } from './output.js';

export interface BlockEnd {
  readonly stream: number;
  readonly endStream: boolean;
  /** The peer's SETTINGS_MAX_FRAME_SIZE. */
  readonly frameBytes: number;
}

/** Leaves room for the head of a HEADERS frame, whose block is written next; answers where it stands. */
export function beginBlock(out: Output): number {
  out.ensure(FRAME_HEAD_BYTES);
  const at = out.at;
  out.at += FRAME_HEAD_BYTES;
  return at;
}

/** The block stands after the place of its frame's head, which is written now that its length is known. */
export function closeBlock(out: Output, at: number, { stream, endStream, frameBytes }: BlockEnd): void {
  const flags = endStream ? Flag.endStream : 0;
  const length = out.at - at - FRAME_HEAD_BYTES;
  if (length <= frameBytes) {
    return writeFrameHead(out.bytes, at, length, { type: FrameType.headers, flags: flags | Flag.endHeaders, stream });
  }
  const block = Buffer.from(out.bytes.subarray(at + FRAME_HEAD_BYTES, out.at));
  out.at = at;
  out.ensure(block.length + FRAME_HEAD_BYTES * Math.ceil(block.length / frameBytes));
  for (let start = 0; start < block.length; start += frameBytes) {
    const end = Math.min(block.length, start + frameBytes);
    const type = start === 0 ? FrameType.headers : FrameType.continuation;
    const here = (start === 0 ? flags : 0) | (end === block.length ? Flag.endHeaders : 0);
    putFrameHead(out, end - start, { type, flags: here, stream });
    out.put(block, start, end);
  }
}
