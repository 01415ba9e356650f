// The client's side of SPDY/3.1 over a connection that has left HTTP: streams that are opened from here.
//
// The agents use no flow control, so a stream whose reader is slow holds the whole connection back, and with it the
// agent: nothing is collected here.
import { Duplex } from 'node:stream';
import { drained } from '../../lib/async/drained.js';
import { latestWhenDrained } from '../../lib/async/latest-when-drained.js';
import { OutboundError } from '../outbound-error.js';
import {
  CANCEL,
  CONTROL,
  controlFrame,
  dataHead,
  type FrameHead,
  HEAD_BYTES,
  MAX_DATA_BYTES,
  readHead,
  synStream,
  words,
} from './frames.js';

/** A dead connection is found by what it does not answer. */
const PING_PERIOD_MS = 5_000;
const OPEN_TIMEOUT_MS = 30_000;
/** An agent that does not read its last words is left. */
const LINGER_MS = 5_000;
/** Control frames are small; a larger one is not what it says. */
const MAX_CONTROL_BYTES = 64 * 1024;

export class SpdySession {
  readonly #socket: Duplex;
  readonly #streams = new Map<number, SpdyStream>();
  /** Those whose end this side has not sent. They are reset when the session ends, as kube-apiserver does it. */
  readonly #unfinished = new Set<number>();
  readonly #ping: NodeJS.Timeout;
  readonly #answerPing: (id: number) => void;
  #nextStream = 1;
  #nextPing = 1;
  #closed = false;
  /** Of the frame under way: its head as far as it has come, or what is still missing of it. */
  #input: Buffer = Buffer.alloc(0);
  #frame: (FrameHead & { left: number }) | undefined = undefined;

  /** `head`: what came along with the end of HTTP. */
  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.once('end', () => this.close());
    socket.once('close', () => this.close());
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#ping = setInterval(() => this.#sendPing(), PING_PERIOD_MS);
    this.#ping.unref();
    this.#answerPing = latestWhenDrained(
      socket,
      (id: number) => void socket.write(controlFrame(CONTROL.ping, words(id))),
    );
    if (head.length > 0) this.#take(head);
  }

  /** Resolves when the other side has accepted the stream. */
  async open(headers: Readonly<Record<string, string>>): Promise<Duplex> {
    if (this.#closed) throw lost();
    const id = this.#nextStream;
    this.#nextStream += 2;
    const stream = new SpdyStream({
      send: (piece, fin) => this.#sendData(id, piece, fin),
      leave: () => this.#leave(id),
      onReady: () => this.#flow(),
    });
    this.#streams.set(id, stream);
    this.#unfinished.add(id);
    this.#socket.write(synStream(id, headers, id === 1));
    await stream.accepted(OPEN_TIMEOUT_MS);
    return stream;
  }

  /** Streams that are open end here; what the other side sent before stays readable. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#ping);
    const canceled = [...this.#unfinished].map((id) => controlFrame(CONTROL.rstStream, words(id, CANCEL)));
    for (const stream of this.#streams.values()) stream.lose();
    this.#streams.clear();
    if (!this.#socket.destroyed && this.#socket.writable) {
      setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
      const goAway = controlFrame(CONTROL.goAway, words(0, 0));
      this.#socket.end(Buffer.concat([...canceled, goAway]), () => this.#socket.destroy());
    } else this.#socket.destroy();
  }

  #sendPing(): void {
    this.#socket.write(controlFrame(CONTROL.ping, words(this.#nextPing)));
    this.#nextPing += 2;
  }

  async #sendData(id: number, piece: Buffer, fin: boolean): Promise<void> {
    const { length } = piece;
    for (let at = 0; at === 0 || at < length; at += MAX_DATA_BYTES) {
      if (this.#closed) throw lost();
      const part = piece.subarray(at, at + MAX_DATA_BYTES);
      const isEnd = fin && at + part.length === length;
      if (isEnd) this.#unfinished.delete(id);
      this.#socket.cork();
      this.#socket.write(dataHead(id, part.length, isEnd));
      this.#socket.write(part);
      this.#socket.uncork();
      await drained(this.#socket);
    }
  }

  #leave(id: number): void {
    this.#streams.delete(id);
    this.#flow();
  }

  #take(bytes: Buffer): void {
    let input = this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes]);
    while (!this.#closed) {
      const frame = this.#frame;
      if (frame === undefined) {
        if (input.length < HEAD_BYTES) break;
        const head = readHead(input);
        this.#frame = { ...head, left: head.length };
        input = input.subarray(HEAD_BYTES);
      } else if (frame.type === undefined) {
        const part = input.subarray(0, frame.left);
        if (part.length === 0 && frame.left > 0) break;
        input = input.subarray(part.length);
        frame.left -= part.length;
        if (frame.left === 0) this.#frame = undefined;
        this.#receive(frame.stream, part, frame.left === 0 && frame.fin);
      } else {
        if (frame.length > MAX_CONTROL_BYTES) return this.close();
        if (input.length < frame.length) break;
        this.#control(frame.type, input.subarray(0, frame.length), frame.fin);
        input = input.subarray(frame.length);
        this.#frame = undefined;
      }
    }
    this.#input = input;
  }

  #receive(id: number, part: Buffer, fin: boolean): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (!stream.receive(part, fin)) this.#socket.pause();
  }

  #control(type: number, payload: Buffer, fin: boolean): void {
    if (payload.length < 4) return;
    const id = payload.readUInt32BE(0) & 0x7fff_ffff;
    const stream = this.#streams.get(id);
    if (type === CONTROL.synReply) {
      stream?.accept();
      if (fin) stream?.receive(Buffer.alloc(0), true);
    } else if (type === CONTROL.rstStream) {
      this.#streams.delete(id);
      this.#unfinished.delete(id);
      stream?.lose();
      this.#flow();
    } else if (type === CONTROL.ping && id % 2 === 0) {
      // Those with odd numbers are answers to ours.
      this.#answerPing(id);
    }
  }

  /** Reads on when no stream is full any more. */
  #flow(): void {
    if (![...this.#streams.values()].some((stream) => stream.isFull)) this.#socket.resume();
  }
}

const lost = (): OutboundError => new OutboundError('protocol', 'unexpected EOF');

interface StreamOwner {
  send(piece: Buffer, fin: boolean): Promise<void>;
  /** Nobody uses the stream any more. */
  leave(): void;
  onReady(): void;
}

class SpdyStream extends Duplex {
  isFull = false;
  #accept: { resolve: () => void; reject: (error: Error) => void } | undefined = undefined;
  #isAccepted = false;
  #received = false;

  constructor(private readonly owner: StreamOwner) {
    super({ allowHalfOpen: true });
    this.on('error', () => undefined);
  }

  accepted(timeoutMs: number): Promise<void> {
    if (this.#isAccepted) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new OutboundError('timeout', 'timeout waiting for the stream to be accepted'));
        this.destroy();
      }, timeoutMs);
      timer.unref();
      this.#accept = {
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
    });
  }

  accept(): void {
    this.#isAccepted = true;
    this.#accept?.resolve();
  }

  /** False when the reader's buffer is full. */
  receive(part: Buffer, fin: boolean): boolean {
    if (this.#received) return true;
    if (part.length > 0 && !this.push(part)) this.isFull = true;
    if (fin) this.#endOfReading();
    return !this.isFull;
  }

  /** Nothing comes any more, and nothing can be sent. */
  lose(): void {
    if (!this.#isAccepted) this.#accept?.reject(lost());
    this.#endOfReading();
  }

  #endOfReading(): void {
    if (this.#received) return;
    this.#received = true;
    this.push(null);
  }

  override _read(): void {
    if (!this.isFull) return;
    this.isFull = false;
    this.owner.onReady();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.owner.send(piece, false).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.owner.send(Buffer.alloc(0), true).then(
      () => done(),
      () => done(),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.isFull = false;
    this.owner.leave();
    done(error);
  }
}
