// Messages on a byte stream between processes of one machine and one build: a length, a type, and members in the order in which
// both sides know them. Nothing here is stable across builds.
//
//   length (4)  type (1)  members …        a number is a double, a text or value has its length (4) first
//
// Messages of one turn of the event loop leave in one write.
import type { Duplex } from 'node:stream';
import { MessageSplitter } from '../../lib/values/message-splitter.js';
import { KvError } from '../kv.js';

const LENGTH_BYTES = 4;
const FIRST_BYTES = 16 * 1024;
/** A buffer that one large message made so large is not kept. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** A value has 8 MiB at most, and a page of them a few times as much. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;
const ABSENT = 0xffffffff;

/** Both ends of the stream have one. */
export class FrameStream {
  readonly #out = new FrameWriter();
  readonly #stream: Duplex;
  #flushing = false;

  /** `receive` gets one message at a time, `received` is called after those that came together. */
  constructor(stream: Duplex, receive: (message: FrameReader) => void, received: () => void) {
    this.#stream = stream;
    const splitter = new MessageSplitter({ bytes: LENGTH_BYTES, lengthIn: frameLength });
    stream.on('data', (chunk: Buffer) => {
      try {
        for (const frame of splitter.take(chunk)) receive(new FrameReader(frame));
        received();
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Leaves with the others of this turn, or by `flush`. */
  send(type: number, write: (members: FrameWriter) => void): void {
    this.#out.frame(type, write);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.flush());
  }

  /** Now: before anything that happens after it becomes known to others. */
  flush(): void {
    this.#flushing = false;
    if (this.#out.isEmpty) return;
    const bytes = this.#out.take();
    if (!this.#stream.destroyed) this.#stream.write(bytes);
  }
}

// hot: every write and event of a worker process
export class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = 0;

  get isEmpty(): boolean {
    return this.#at === 0;
  }

  frame(type: number, write: (members: FrameWriter) => void): void {
    const start = this.#at;
    this.#room(LENGTH_BYTES + 1);
    this.#buffer[start + LENGTH_BYTES] = type;
    this.#at = start + LENGTH_BYTES + 1;
    write(this);
    this.#buffer.writeUInt32LE(this.#at - start - LENGTH_BYTES, start);
  }

  number(value: number): void {
    this.#room(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  text(value: string): void {
    // UTF-8 has three bytes at most for what a string counts as one.
    this.#room(LENGTH_BYTES + value.length * 3);
    const bytes = this.#buffer.write(value, this.#at + LENGTH_BYTES);
    this.#buffer.writeUInt32LE(bytes, this.#at);
    this.#at += LENGTH_BYTES + bytes;
  }

  bytes(value: Uint8Array | undefined): void {
    this.#room(LENGTH_BYTES + (value?.length ?? 0));
    this.#at = this.#buffer.writeUInt32LE(value?.length ?? ABSENT, this.#at);
    if (value === undefined) return;
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  /** What was written so far, which begins anew. */
  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.#at));
    this.#at = 0;
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    return taken;
  }

  #room(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

export class FrameReader {
  #at = 1;

  constructor(private readonly frame: Buffer) {}

  get type(): number {
    return this.frame[0] as number;
  }

  /** There are more members. */
  get hasMore(): boolean {
    return this.#at < this.frame.length;
  }

  number(): number {
    const value = this.frame.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  text(): string {
    const length = this.#length();
    return this.frame.toString('utf8', this.#at, (this.#at += length));
  }

  /**
   * A copy: what is kept of it is not to hold on to all that came with it. The watch cache makes bytes of its own of a value, so
   * that a slice of Node's pool is enough, at half of the processor time.
   */
  bytes(): Buffer | undefined {
    const length = this.#length();
    if (length === ABSENT) return undefined;
    const value = Buffer.allocUnsafe(length);
    this.frame.copy(value, 0, this.#at, (this.#at += length));
    return value;
  }

  #length(): number {
    const length = this.frame.readUInt32LE(this.#at);
    this.#at += LENGTH_BYTES;
    return length;
  }
}

function frameLength(buffer: Buffer): number {
  const length = buffer.readUInt32LE(0);
  if (length > MAX_FRAME_BYTES) throw new KvError('unavailable', `a message of ${length} bytes`);
  return length;
}
