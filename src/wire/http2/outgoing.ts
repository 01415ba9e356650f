// Outgoing bodies: streams send round robin, a frame each, within what the client's windows allow.
//
//   ready → [ stream 5 ] → [ stream 1 ] → [ stream 7 ]     each gives up to a frame and goes to the end
//
// A stream whose own window is used up leaves the ring until the client has read; when the window of all is used up,
// the ring waits.
import type { HttpResponse } from '../../lib/http/http.js';
import type { ByteWriter } from '../byte-writer.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import type { FloodGuard } from './flood-guard.js';
import {
  DEFAULT_WINDOW_BYTES,
  Flag,
  FRAME_HEAD_BYTES,
  FrameType,
  MAX_WINDOW_BYTES,
  putFrameHead,
  writeFrameHead,
} from './frames.js';
import type { Output } from './output.js';

/** In one write. More would only wait, and hold memory for a client that reads slowly. */
const MAX_WRITTEN_BYTES = 128 * 1024;
/** Larger frames gain nothing, and others wait for them. */
const MAX_SENT_FRAME_BYTES = 16_384;

/** A stream as far as its bytes go out. */
export interface OutgoingStream<S> {
  readonly id: number;
  /** The stream's flow-control window: how many bytes may be sent now. */
  sendWindow: number;
  readonly pendingBytes: number;
  /** Nothing goes either way any more. */
  readonly closed: boolean;
  /** There is something to send, the end included, and a window for it. */
  readonly canSend: boolean;
  /** The end was sent. */
  readonly ended: boolean;
  /** What follows the last byte. */
  readonly trailers: HttpResponse['headers'] | undefined;
  /** In the ring of those that may send, with the next one after it. */
  ready: boolean;
  next: S | undefined;
  /** Moves so many of the bytes that wait. */
  moveTo(out: ByteWriter, length: number): void;
  /** True once, when the last byte has gone out. */
  endsNow(): boolean;
}

export class Outgoing<S extends OutgoingStream<S>> {
  window = DEFAULT_WINDOW_BYTES;
  #first: S | undefined = undefined;
  #last: S | undefined = undefined;

  constructor(
    private readonly guard: FloodGuard,
    private readonly onEnded: (stream: S) => void,
    private readonly putTrailers: (out: Output, stream: number, trailers: HttpResponse['headers']) => void,
  ) {}

  /** Nothing could be sent, even if there were room. */
  get idle(): boolean {
    return this.#first === undefined || this.window <= 0;
  }

  get empty(): boolean {
    return this.#first === undefined;
  }

  widen(increment: number): void {
    this.window += increment;
    if (this.window > MAX_WINDOW_BYTES)
      throw new ConnectionError(ErrorCode.flowControl, 'connection flow-control window exceeds 2^31-1');
  }

  /** Has something to send, and a window for it. */
  add(stream: S): void {
    if (stream.ready || !stream.canSend) return;
    stream.ready = true;
    stream.next = undefined;
    if (this.#last === undefined) this.#first = stream;
    else this.#last.next = stream;
    this.#last = stream;
  }

  /** As much as fits into one write. */
  // hot: once for each event-loop turn and connection.
  fill(out: Output): void {
    while (this.#first !== undefined && out.at < MAX_WRITTEN_BYTES) {
      const stream = this.#first;
      if (this.window <= 0 && stream.pendingBytes > 0) return;
      this.#first = stream.next;
      if (this.#first === undefined) this.#last = undefined;
      stream.ready = false;
      stream.next = undefined;
      if (stream.closed || !stream.canSend) continue;
      this.#putFrame(out, stream);
      if (stream.ended) this.onEnded(stream);
      else this.add(stream);
    }
  }

  /** Whether a body may be sent with its head, without the queue. */
  // hot: once for each answer.
  mayPass(out: Output, stream: S, bytes: number): boolean {
    return (
      this.#first === undefined &&
      bytes <= this.window &&
      bytes <= stream.sendWindow &&
      out.at + bytes <= MAX_WRITTEN_BYTES
    );
  }

  /** Sends all of `pieces` and the end of the stream. The caller has checked `mayPass`. */
  pass(out: Output, stream: S, pieces: readonly Buffer[], bytes: number): void {
    this.window -= bytes;
    stream.sendWindow -= bytes;
    out.ensure(bytes + FRAME_HEAD_BYTES * (Math.floor(bytes / MAX_SENT_FRAME_BYTES) + 1));
    let left = bytes;
    let frameLeft = 0;
    for (const piece of pieces) {
      for (let at = 0; at < piece.length;) {
        if (frameLeft === 0) {
          frameLeft = Math.min(left, MAX_SENT_FRAME_BYTES);
          const flags = left === frameLeft ? Flag.endStream : 0;
          putFrameHead(out, frameLeft, { type: FrameType.data, flags, stream: stream.id });
          this.guard.earn(frameLeft);
        }
        const end = Math.min(piece.length, at + frameLeft);
        out.put(piece, at, end);
        frameLeft -= end - at;
        left -= end - at;
        at = end;
      }
    }
  }

  #putFrame(out: Output, stream: S): void {
    const { trailers } = stream;
    if (trailers !== undefined && stream.pendingBytes === 0 && stream.endsNow()) {
      return this.putTrailers(out, stream.id, trailers);
    }
    const sendable = Math.max(0, Math.min(stream.pendingBytes, stream.sendWindow, this.window));
    const length = Math.min(sendable, MAX_SENT_FRAME_BYTES);
    // At once for the frames that follow: what is written already would be copied to a larger buffer.
    const room = Math.max(length, Math.min(sendable, MAX_WRITTEN_BYTES - out.at));
    out.ensure(room + FRAME_HEAD_BYTES * (Math.floor(room / MAX_SENT_FRAME_BYTES) + 1));
    const at = out.at;
    out.at += FRAME_HEAD_BYTES;
    if (length > 0) stream.moveTo(out, length);
    const sent = out.at - at - FRAME_HEAD_BYTES;
    this.window -= sent;
    stream.sendWindow -= sent;
    const ends = stream.endsNow();
    const flags = ends && trailers === undefined ? Flag.endStream : 0;
    writeFrameHead(out.bytes, at, sent, { type: FrameType.data, flags, stream: stream.id });
    this.guard.earn(sent);
    if (ends && trailers !== undefined) this.putTrailers(out, stream.id, trailers);
  }
}
