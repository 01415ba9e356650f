// Cuts what comes off a connection into frames. A body is handed on as it comes, never put together here; other frames
// are handed on whole.
import { ByteWriter } from '../byte-writer.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import { Flag, FRAME_HEAD_BYTES, type FrameHead, FrameType, read31 } from './frames.js';

export interface FrameReceiver {
  /** No more frames are wanted. */
  readonly closed: boolean;
  /** No more frames are wanted for now. */
  readonly paused: boolean;
  /** A frame other than DATA. Its payload is in `bytes` from `start` to `end`, and is gone after the call. */
  frame(head: FrameHead, bytes: Buffer, start: number, end: number): void;
  /** A DATA frame. `length` is what it counts in flow control, `padding` of it no content. */
  dataBegins(flags: number, stream: number, length: number, padding: number): void;
  dataPiece(piece: Buffer): void;
  dataEnds(): void;
}

/** What a client says first. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export class FrameReader {
  /** The beginning of a frame whose end has not come. */
  #held: ByteWriter | undefined = undefined;
  #needed = 0;
  #prefaceLeft: number;
  /** Inside a DATA frame. */
  #inData = false;
  #contentLeft = 0;
  #paddingLeft = 0;

  constructor(
    private readonly receiver: FrameReceiver,
    private readonly maxBytes: number,
    from: 'client' | 'server' = 'client',
  ) {
    this.#prefaceLeft = from === 'client' ? PREFACE.length : 0;
  }

  /** The beginning of a frame is held. */
  get insideFrame(): boolean {
    return this.#held !== undefined;
  }

  /** Answers how many of the bytes were read. */
  // hot: for all that comes.
  feed(bytes: Buffer): number {
    const { receiver } = this;
    let at = this.#prefaceLeft === 0 ? 0 : this.#readPreface(bytes);
    while (at < bytes.length && !receiver.closed && !receiver.paused) {
      if (this.#inData) at = this.#readData(bytes, at);
      else if (this.#held === undefined) at = this.#readFrame(bytes, at);
      else at = this.#completeHeld(this.#held, bytes, at);
    }
    return at;
  }

  #readPreface(bytes: Buffer): number {
    const length = Math.min(this.#prefaceLeft, bytes.length);
    const start = PREFACE.length - this.#prefaceLeft;
    if (PREFACE.compare(bytes, 0, length, start, start + length) !== 0) {
      throw new ConnectionError(ErrorCode.protocol, 'invalid connection preface');
    }
    this.#prefaceLeft -= length;
    return length;
  }

  #readFrame(bytes: Buffer, at: number): number {
    const needed = this.#bytesNeeded(bytes, at, bytes.length);
    if (at + needed <= bytes.length) {
      this.#deliver(bytes, at, needed);
      return at + needed;
    }
    const held = (this.#held = new ByteWriter(Buffer.allocUnsafe(Math.max(bytes.length - at, 64))));
    held.put(bytes, at);
    this.#needed = needed;
    return bytes.length;
  }

  #completeHeld(held: ByteWriter, bytes: Buffer, start: number): number {
    const end = Math.min(bytes.length, start + this.#needed - held.at);
    held.ensure(end - start);
    held.put(bytes, start, end);
    if (held.at < this.#needed) return end;
    const needed = this.#bytesNeeded(held.bytes, 0, held.at);
    if (needed > held.at) {
      this.#needed = needed;
      return end;
    }
    this.#held = undefined;
    this.#deliver(held.bytes, 0, needed);
    return end;
  }

  /** Of the frame that begins at `at`, as far as can be seen: all of it, or of DATA what stands before its content. */
  #bytesNeeded(bytes: Buffer, at: number, end: number): number {
    if (end - at < FRAME_HEAD_BYTES) return FRAME_HEAD_BYTES;
    const length = lengthAt(bytes, at);
    if (length > this.maxBytes) throw new ConnectionError(ErrorCode.frameSize, 'frame exceeds SETTINGS_MAX_FRAME_SIZE');
    if (bytes[at + 3] !== FrameType.data) return FRAME_HEAD_BYTES + length;
    if (((bytes[at + 4] as number) & Flag.padded) === 0) return FRAME_HEAD_BYTES;
    if (length === 0) throw new ConnectionError(ErrorCode.frameSize, 'padded frame without a Pad Length field');
    return FRAME_HEAD_BYTES + 1;
  }

  #deliver(bytes: Buffer, at: number, size: number): void {
    const type = bytes[at + 3] as number;
    const flags = bytes[at + 4] as number;
    const stream = read31(bytes, at + 5);
    const start = at + FRAME_HEAD_BYTES;
    if (type !== FrameType.data) return this.receiver.frame({ type, flags, stream }, bytes, start, at + size);
    const length = lengthAt(bytes, at);
    const padded = (flags & Flag.padded) !== 0;
    const padding = padded ? (bytes[start] as number) : 0;
    if (padded && padding >= length) throw new ConnectionError(ErrorCode.protocol, 'padding exceeds the frame payload');
    this.#contentLeft = length - padding - (padded ? 1 : 0);
    this.#paddingLeft = padding;
    this.receiver.dataBegins(flags, stream, length, length - this.#contentLeft);
    this.#inData = this.#contentLeft + padding > 0;
    if (!this.#inData) this.receiver.dataEnds();
  }

  #readData(bytes: Buffer, start: number): number {
    let at = start;
    if (this.#contentLeft > 0) {
      const end = Math.min(bytes.length, at + this.#contentLeft);
      this.#contentLeft -= end - at;
      this.receiver.dataPiece(bytes.subarray(at, end));
      at = end;
    }
    if (this.#contentLeft === 0) {
      const skipped = Math.min(bytes.length - at, this.#paddingLeft);
      this.#paddingLeft -= skipped;
      at += skipped;
      if (this.#paddingLeft === 0) {
        this.#inData = false;
        this.receiver.dataEnds();
      }
    }
    return at;
  }
}

const lengthAt = (bytes: Buffer, at: number): number =>
  ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
