// One connection to a server: outgoing requests as streams. Frames of one turn of the event loop share one write, and
// answers are handed on without streams, emitters or promises of Node's; see docs/decisions/0021.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../lib/async/clock.js';
import type { Flushed, WriteScheduler } from '../../lib/scheduling/write-scheduler.js';
import type { BufferPool } from '../../lib/values/buffer-pool.js';
import { TransientMap } from '../../lib/values/transient-map.js';
import { onDirectData } from '../direct-reads.js';
import { HpackEncoder } from '../hpack/encoder.js';
import type { ClientConnection, GoAway } from './client-connection.js';
import { ClientFrames } from './client-frames.js';
import type { ClientStream, StreamLoss, StreamOwner } from './client-stream.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import { FloodGuard } from './flood-guard.js';
import { FrameReader, PREFACE } from './frame-reader.js';
import { DEFAULT_WINDOW_BYTES, putGoaway, putPing, putResetStream, putWindowUpdate } from './frames.js';
import { Outgoing } from './outgoing.js';
import { Output } from './output.js';
import { RequestHeadWriter } from './request-head-writer.js';
import { MAX_HEADER_LIST_BYTES } from './response-heads.js';
import { PeerSettings, putClientSettings } from './settings.js';

/** Of one answer, before it is read. */
const WINDOW_BYTES = 16 * 1024 * 1024;
const WINDOW_STEP_BYTES = 1024 * 1024;
const FRAME_BYTES = 1024 * 1024;
const MAX_STREAM_ID = 0x7fffffff;
const NOW_MS = (): number => performance.now();

export interface ClientOptions {
  readonly authority: string;
  readonly scheme: 'http' | 'https';
  readonly scheduler: WriteScheduler;
  readonly pool: BufferPool;
  readonly clock: Clock;
  /** The server has sent its SETTINGS: requests may begin. */
  readonly onReady: () => void;
  /** The connection is over; called once. */
  readonly onClose: (why: string) => void;
  /** What is pending is about to be written: none of it has left before. */
  readonly onFlush?: () => void;
}

export class Http2Client implements ClientConnection, StreamOwner, Flushed {
  readonly peer = new PeerSettings();
  readonly encoder = new HpackEncoder();
  readonly guard = new FloodGuard(NOW_MS);
  readonly clock: Clock;
  readonly output: Output;
  readonly outgoing: Outgoing<ClientStream>;
  /** Those that have begun, and whose answers have not ended. */
  readonly streams = new TransientMap<number, ClientStream>();
  readonly paused = false;
  readonly hasAnswer = true;
  closed = false;
  goAway: GoAway | undefined = undefined;
  readonly #socket: Duplex;
  readonly #options: ClientOptions;
  readonly #reader: FrameReader;
  readonly #heads: RequestHeadWriter;
  /** Requests beyond the server's SETTINGS_MAX_CONCURRENT_STREAMS. */
  #waiting: ClientStream[] = [];
  #nextId = 1;
  #window = DEFAULT_WINDOW_BYTES;
  #uncreditedBytes = 0;
  #scheduled = false;
  #inFlight: Buffer | undefined = undefined;
  #whenPingAnswered: (() => void) | undefined = undefined;

  constructor(socket: Duplex, options: ClientOptions) {
    this.#socket = socket;
    this.#options = options;
    this.clock = options.clock;
    this.output = new Output(options.pool);
    this.outgoing = new Outgoing<ClientStream>(
      this.guard,
      () => undefined,
      () => undefined,
    );
    this.#heads = new RequestHeadWriter(this.encoder, options);
    this.#reader = new FrameReader(new ClientFrames(this), FRAME_BYTES, 'server');
    this.#greet();
    onDirectData(socket, this.#onData);
    socket.on('end', () => this.#over('EOF'));
    socket.on('close', () => this.#over('EOF'));
    socket.on('error', (error: Error) => this.#over(error.message));
  }

  /** New requests may begin. */
  get usable(): boolean {
    return !this.closed && this.goAway === undefined && this.#nextId <= MAX_STREAM_ID;
  }

  hasBegun(id: number): boolean {
    return id % 2 === 1 && id < this.#nextId;
  }

  /** Sends a request; the caller has checked `usable`. `body`, in pieces, is complete where `finished` is set. */
  // hot: once for each call.
  begin(stream: ClientStream, body: readonly Buffer[], bodyBytes: number): void {
    stream.owner = this;
    if (this.streams.size < this.peer.maxStreams) return this.#begin(stream, body, bodyBytes);
    for (const piece of body) stream.enqueue(piece);
    this.#waiting.push(stream);
  }

  #begin(stream: ClientStream, body: readonly Buffer[], bodyBytes: number): void {
    stream.id = this.#nextId;
    this.#nextId += 2;
    stream.sendWindow = this.peer.initialWindowBytes;
    stream.receiveWindow = WINDOW_BYTES;
    this.streams.set(stream.id, stream);
    this.#heads.put(this.output, stream, this.peer.frameBytes);
    if (stream.finished && bodyBytes > 0 && this.outgoing.mayPass(this.output, stream, bodyBytes)) {
      this.outgoing.pass(this.output, stream, body, bodyBytes);
      stream.ended = true;
      return this.schedule();
    }
    for (const piece of body) stream.enqueue(piece);
    this.outgoing.add(stream);
    this.schedule();
  }

  ping(answered: () => void): void {
    this.#whenPingAnswered = answered;
    putPing(this.output);
    this.schedule();
  }

  pingAnswered(): void {
    const answered = this.#whenPingAnswered;
    this.#whenPingAnswered = undefined;
    answered?.();
  }

  close(why: string): void {
    this.#over(why);
  }

  send(stream: ClientStream): void {
    if (stream.id === 0) return;
    this.outgoing.add(stream);
    if (!this.outgoing.idle) this.schedule();
  }

  taken(stream: ClientStream, bytes: number): void {
    stream.uncreditedBytes += bytes;
    if (stream.uncreditedBytes < WINDOW_BYTES / 2 || stream.closed) return;
    putWindowUpdate(this.output, stream.id, stream.uncreditedBytes);
    stream.receiveWindow += stream.uncreditedBytes;
    stream.uncreditedBytes = 0;
    this.schedule();
  }

  /** Of the whole connection: memory is bounded by the streams' windows, so the server may go on at once. */
  received(bytes: number): void {
    this.#window -= bytes;
    if (this.#window < 0) throw new ConnectionError(ErrorCode.flowControl, 'connection flow-control window exceeded');
    this.#uncreditedBytes += bytes;
    if (this.#uncreditedBytes < WINDOW_STEP_BYTES) return;
    putWindowUpdate(this.output, 0, this.#uncreditedBytes);
    this.#window += this.#uncreditedBytes;
    this.#uncreditedBytes = 0;
    this.schedule();
  }

  cancel(stream: ClientStream): void {
    if (stream.closed) return;
    if (stream.id === 0) this.#waiting = this.#waiting.filter((other) => other !== stream);
    else this.#sendReset(stream.id, ErrorCode.cancel);
    this.#forget(stream);
  }

  /** The server broke a rule of the stream. */
  resetStream(id: number, code: ErrorCode): void {
    this.#sendReset(id, code);
    const stream = this.streams.get(id);
    if (stream !== undefined) this.drop(stream, { kind: 'reset', code });
  }

  /** The answer has come to its end. Nobody reads the rest of a request that was answered early. */
  finish(stream: ClientStream): void {
    if (!stream.ended) this.#sendReset(stream.id, ErrorCode.none);
    this.#forget(stream);
  }

  drop(stream: ClientStream, loss: StreamLoss): void {
    this.#forget(stream);
    stream.onLoss(loss);
  }

  /** The server begins no more requests than it has, up to this one. */
  left(lastStream: number, goAway: GoAway): void {
    this.goAway = goAway;
    const waiting = this.#waiting;
    this.#waiting = [];
    const refused = [...this.streams.values()].filter(({ id }) => id > lastStream);
    for (const stream of [...refused, ...waiting]) this.drop(stream, { kind: 'refused' });
    if (this.streams.size === 0) this.schedule();
  }

  settingsCame(isFirst: boolean): void {
    if (isFirst) this.#options.onReady();
    else this.#beginWaiting();
  }

  schedule(): void {
    if (this.#scheduled || this.#inFlight !== undefined) return;
    this.#scheduled = true;
    this.#options.scheduler.schedule(this);
  }

  flush(): number {
    this.#scheduled = false;
    if (this.#inFlight !== undefined || this.closed) return 0;
    this.outgoing.fill(this.output);
    if (this.output.at === 0) {
      if (this.goAway !== undefined && this.streams.size === 0) this.#over('EOF');
      return 0;
    }
    const { buffer, length } = this.output.take();
    this.#inFlight = buffer;
    this.#options.onFlush?.();
    this.#socket.write(buffer.subarray(0, length), this.#onWritten);
    return length;
  }

  #greet(): void {
    this.output.ensure(PREFACE.length);
    this.output.put(PREFACE);
    putClientSettings(this.output, {
      windowBytes: WINDOW_BYTES,
      frameBytes: FRAME_BYTES,
      headerListBytes: MAX_HEADER_LIST_BYTES,
    });
    putWindowUpdate(this.output, 0, WINDOW_BYTES - this.#window);
    this.#window = WINDOW_BYTES;
    this.schedule();
  }

  #beginWaiting(): void {
    while (this.#waiting.length > 0 && this.usable && this.streams.size < this.peer.maxStreams) {
      const stream = this.#waiting.shift() as ClientStream;
      this.#begin(stream, [], 0);
    }
  }

  #sendReset(id: number, code: ErrorCode): void {
    putResetStream(this.output, id, code);
    this.schedule();
  }

  #forget(stream: ClientStream): void {
    stream.close();
    this.streams.delete(stream.id);
    if (this.#waiting.length > 0) this.#beginWaiting();
    else if (this.goAway !== undefined && this.streams.size === 0) this.schedule();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.closed) return;
    try {
      this.#reader.feed(bytes);
    } catch (error) {
      const { code, message } =
        error instanceof ConnectionError ? error : new ConnectionError(ErrorCode.internal, String(error));
      putGoaway(this.output, 0, code, '');
      this.flush();
      this.#over(message);
    }
  };

  readonly #onWritten = (): void => {
    if (this.#inFlight !== undefined) this.#options.pool.give(this.#inFlight);
    this.#inFlight = undefined;
    if (this.closed || (this.output.at === 0 && this.outgoing.idle)) return;
    const { scheduler } = this.#options;
    if (scheduler.exhausted) this.schedule();
    else scheduler.wrote(this.flush());
  };

  #over(why: string): void {
    if (this.closed) return;
    this.closed = true;
    this.output.drop();
    const streams = [...this.streams.values()];
    const waiting = this.#waiting;
    this.streams.clear();
    this.#waiting = [];
    for (const stream of streams) {
      stream.close();
      stream.onLoss({ kind: 'lost', why });
    }
    for (const stream of waiting) {
      stream.close();
      stream.onLoss({ kind: 'refused' });
    }
    this.#socket.destroy();
    this.#options.onClose(why);
  }
}
