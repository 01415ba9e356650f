// One outgoing request and its answer, as far as HTTP/2 goes. Callers extend the class, so that a call is one object.
import type { ByteWriter } from '../byte-writer.js';
import type { OutgoingStream } from './outgoing.js';
import { PieceQueue } from './piece-queue.js';
import type { HeaderFields } from './response-heads.js';

/** Why a stream ended before its answer did. */
export type StreamLoss =
  | { readonly kind: 'reset'; readonly code: number }
  /** The connection ended; `why` in words. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The server said that it did not look at the request, and will not. */
  | { readonly kind: 'refused' };

export interface StreamOwner {
  /** The stream has something to send. */
  send(stream: ClientStream): void;
  /** The caller has consumed so many bytes of the stream's answer. */
  taken(stream: ClientStream, bytes: number): void;
  /** Resets the stream. */
  cancel(stream: ClientStream): void;
}

export abstract class ClientStream implements OutgoingStream<ClientStream> {
  /** 0 before it has begun. */
  id = 0;
  sendWindow = 0;
  /** How much of the answer may come, and how much more that the server does not know of yet. */
  receiveWindow = 0;
  uncreditedBytes = 0;
  /** A head has come. */
  answered = false;
  closed = false;
  /** Nothing more is sent after what waits. */
  finished = false;
  ended = false;
  pendingBytes = 0;
  ready = false;
  next: ClientStream | undefined = undefined;
  readonly trailers = undefined;
  /** Once it has begun. */
  owner: StreamOwner | undefined = undefined;
  #queue: PieceQueue | undefined = undefined;
  #whenDrained: (() => void)[] | undefined = undefined;

  constructor(
    readonly path: string,
    readonly metadata: Readonly<Record<string, string>> | undefined,
  ) {}

  /** The answer's head. `ends`: nothing follows it. */
  abstract onHead(fields: HeaderFields, ends: boolean): void;
  /** A piece of the answer's body. The implementation calls the owner's `taken` when it has consumed the bytes. */
  abstract onData(piece: Buffer): void;
  abstract onTrailers(fields: HeaderFields): void;
  /** The answer ends without trailers. */
  abstract onEnd(): void;
  /** The answer does not come, or not to its end. */
  abstract onLoss(loss: StreamLoss): void;

  get canSend(): boolean {
    return this.pendingBytes > 0 ? this.sendWindow > 0 : this.finished && !this.ended;
  }

  /** False when it waits for room. */
  write(bytes: Buffer): boolean {
    if (this.closed || this.finished) return true;
    this.enqueue(bytes);
    this.owner?.send(this);
    return this.pendingBytes < HIGH_WATER_BYTES;
  }

  enqueue(bytes: Buffer): void {
    this.pendingBytes += bytes.length;
    (this.#queue ??= new PieceQueue()).add(bytes);
  }

  /** When all that waits has left, or never will. */
  onceDrained(listener: () => void): void {
    if (this.closed || this.pendingBytes === 0) listener();
    else (this.#whenDrained ??= []).push(listener);
  }

  cancel(): void {
    this.owner?.cancel(this);
  }

  moveTo(out: ByteWriter, length: number): void {
    this.#queue?.moveTo(out, length);
    this.pendingBytes -= length;
    if (this.pendingBytes === 0) this.#drain();
  }

  endsNow(): boolean {
    if (!this.finished || this.pendingBytes > 0) return false;
    this.ended = true;
    return true;
  }

  close(): void {
    this.closed = true;
    this.pendingBytes = 0;
    this.#drain();
  }

  #drain(): void {
    this.#queue = undefined;
    const waiting = this.#whenDrained;
    this.#whenDrained = undefined;
    if (waiting !== undefined) for (const go of waiting) go();
  }
}

/** The most bytes that are queued before `write` returns false. */
const HIGH_WATER_BYTES = 16 * 1024;
