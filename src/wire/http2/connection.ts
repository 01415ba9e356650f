// One connection: its streams, what it writes in each turn of the event loop, and how it ends.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { WriteScheduler } from '../../lib/scheduling/write-scheduler.js';
import type { BufferPool } from '../../lib/values/buffer-pool.js';
import { TransientMap } from '../../lib/values/transient-map.js';
import type { BodyErrors } from '../body-errors.js';
import { copiesNextWrite } from '../copied-writes.js';
import { onDirectData } from '../direct-reads.js';
import { HpackEncoder } from '../hpack/encoder.js';
import { emitTimeouts } from '../idle-timeout.js';
import { peerAddressOf, type PeerCertificates, peerCertificatesOf } from '../peer.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import { FloodGuard } from './flood-guard.js';
import { FrameReader } from './frame-reader.js';
import { DEFAULT_WINDOW_BYTES, MAX_WINDOW_BYTES, putGoaway, putResetStream, putWindowUpdate } from './frames.js';
import { IncomingFrames } from './incoming-frames.js';
import { MAX_HEADER_LIST_BYTES } from './request-heads.js';
import { Outgoing } from './outgoing.js';
import { Output } from './output.js';
import type { Reader, Reading } from '../reading.js';
import { putContinue, putTrailers } from './response-head.js';
import { type ServeOptions, Serving } from './serving.js';
import { PeerSettings, putServerSettings } from './settings.js';
import type { ServerConnection } from './server-connection.js';
import type { Http2Stream } from './stream.js';
import { UPLOAD_WINDOW_BYTES } from './upload.js';

const IDLE_TIMEOUT_MS = 90_000;
/** A client must say what it is in this time. */
const FIRST_SETTINGS_TIMEOUT_MS = 10_000;
/** A client must end a head that it began in this time, however its bytes drip. */
const HEAD_TIMEOUT_MS = 32_000;
/** How long a client has to read GOAWAY before the connection is closed. */
const LINGER_MS = 1000;
/** While a client does not read, it is heard only until this much waits for it. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Streams that we ended and the client may not know of yet. */
const MAX_RESET_MEMOIZED = 256;
const CLIENT_GONE = new Error('the client is gone');
const NOW_MS = (): number => performance.now();

export interface ConnectionOptions extends ServeOptions {
  readonly bodyErrors: BodyErrors;
  /** The client left, or was left. */
  readonly onGone?: (connection: Http2Connection) => void;
  readonly scheduler: WriteScheduler;
  readonly reading: Reading;
  readonly pool: BufferPool;
}

export class Http2Connection implements ServerConnection, Reader {
  readonly remoteAddress: string;
  readonly clientCertificates: PeerCertificates;
  readonly bodyErrors: BodyErrors;
  readonly peer = new PeerSettings();
  readonly encoder = new HpackEncoder();
  readonly guard = new FloodGuard(NOW_MS);
  readonly output: Output;
  readonly outgoing: Outgoing<Http2Stream>;
  /** Streams that outlast the event-loop turn in which they began. */
  readonly streams = new TransientMap<number, Http2Stream>();
  /** No frame is read any more. */
  closed = false;
  /** GOAWAY was sent: the client may begin no more streams. */
  retired = false;
  /** Reading waits until other connections have been served. */
  paused = false;
  readonly #incoming: IncomingFrames;
  readonly #reader: FrameReader;
  readonly #serving: Serving;
  #resetByUs: Set<number> | undefined = undefined;
  #window = DEFAULT_WINDOW_BYTES;
  /** Received bytes that are read in a later event-loop turn. */
  #unread: Buffer | undefined = undefined;
  #waits = false;
  #begun = 0;
  #unacknowledgedBytes = 0;
  readonly #windowStep: number;
  /** The last stream id that GOAWAY announced. */
  #promised = 0;
  #scheduled = false;
  /** A write is under way. */
  #writing = false;
  /** Its memory, which the socket still reads. */
  #inFlight: Buffer | undefined = undefined;
  /** Before all of its upload had come. */
  #answeredEarly = false;
  #ending = false;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(
    private readonly socket: TLSSocket | Socket,
    private readonly options: ConnectionOptions,
  ) {
    this.remoteAddress = peerAddressOf(socket);
    this.clientCertificates = peerCertificatesOf(socket as TLSSocket);
    this.bodyErrors = options.bodyErrors;
    this.output = new Output(options.pool);
    this.outgoing = new Outgoing(
      this.guard,
      (stream) => this.answered(stream),
      (out, stream, fields) => putTrailers(out, this.encoder, { stream, fields, frameBytes: this.peer.frameBytes }),
    );
    this.#serving = new Serving(this, options);
    this.#incoming = new IncomingFrames(this, this.#serving, options.maxStreams);
    this.#reader = new FrameReader(this.#incoming, UPLOAD_WINDOW_BYTES);
    const wholeWindow = Math.min(UPLOAD_WINDOW_BYTES * options.maxStreams, MAX_WINDOW_BYTES);
    this.#windowStep = Math.min(wholeWindow >>> 1, 1 << 20);
    this.#greet(wholeWindow);
    this.#timer = setTimeout(() => socket.destroy(), FIRST_SETTINGS_TIMEOUT_MS).unref();
    emitTimeouts(socket, IDLE_TIMEOUT_MS);
    socket.on('timeout', this.#onTimeout);
    onDirectData(socket, this.#onData);
    socket.on('end', this.#onGone);
    socket.on('close', this.#onGone);
  }

  /** For requests that are under way this is no end. */
  retire(): void {
    if (this.retired) return;
    this.#goaway(ErrorCode.none, '');
    this.#endWhenDone();
    this.schedule();
  }

  /** Everything ends at once. */
  fail({ code, message }: ConnectionError): void {
    if (this.closed) return;
    this.#goaway(code, message);
    this.#closeStreams();
    this.#endWhenDone();
    // Also while the connection lingers: frames that still arrive get no answer.
    this.closed = true;
    this.schedule();
  }

  resetStream(id: number, code: ErrorCode): void {
    this.#sendReset(id, code);
    this.#memoizeReset(id);
    const stream = this.streams.get(id);
    if (stream !== undefined) this.forget(stream, CLIENT_GONE, code);
  }

  #sendReset(id: number, code: ErrorCode): void {
    putResetStream(this.output, id, code);
    this.schedule();
  }

  #memoizeReset(id: number): void {
    const known = (this.#resetByUs ??= new Set());
    known.add(id);
    if (known.size > MAX_RESET_MEMOIZED) {
      for (const oldest of known) {
        known.delete(oldest);
        break;
      }
    }
  }

  /** The client may still send for it, not knowing. */
  wasReset(id: number): boolean {
    return this.#resetByUs?.has(id) ?? false;
  }

  breakOff(stream: Http2Stream): void {
    if (stream.closed) return;
    this.resetStream(stream.id, ErrorCode.internal);
    stream.close(CLIENT_GONE, ErrorCode.internal);
  }

  /** The end of the answer was written. */
  answered(stream: Http2Stream): void {
    if (stream.received) return this.forget(stream, undefined);
    // Nobody will read the rest of an upload that was answered early. That is said in a write of its own: curl loses an
    // answer that comes together with it.
    this.#memoizeReset(stream.id);
    this.#answeredEarly = true;
    setImmediate(() => this.#sendReset(stream.id, ErrorCode.none));
    this.forget(stream, CLIENT_GONE, ErrorCode.none);
  }

  forget(stream: Http2Stream, gone: Error | undefined, reset?: number): void {
    stream.close(gone, reset);
    if (this.streams.delete(stream.id)) this.#endWhenDone();
  }

  /** It has something to send. */
  // hot: for each event and watcher.
  send(stream: Http2Stream): void {
    this.outgoing.add(stream);
    if (!this.outgoing.idle) this.schedule();
  }

  /** Flushes `output`, and what streams may send, at the end of this event-loop turn. */
  schedule(): void {
    if (this.#scheduled || this.#writing) return;
    this.#scheduled = true;
    this.options.scheduler.schedule(this);
  }

  get hasAnswer(): boolean {
    return this.output.at > 0;
  }

  flush(): number {
    this.#scheduled = false;
    if (this.#writing || !this.socket.writable) return 0;
    this.outgoing.fill(this.output);
    if (this.output.at === 0) {
      if (this.#ending) this.#end();
      return 0;
    }
    const { buffer, length } = this.output.take();
    this.#writing = true;
    const isCopied = copiesNextWrite(this.socket);
    this.socket.write(buffer.subarray(0, length), this.#onWritten);
    // An event for a thousand connections passes through one buffer.
    if (isCopied) this.options.pool.give(buffer);
    else this.#inFlight = buffer;
    return length;
  }

  /** Counts against the connection's window. The streams' windows bound memory, so this window reopens at once. */
  received(bytes: number): void {
    this.#window -= bytes;
    if (this.#window < 0) throw new ConnectionError(ErrorCode.flowControl, 'connection flow-control window exceeded');
    this.#unacknowledgedBytes += bytes;
    if (this.#unacknowledgedBytes < this.#windowStep) return;
    putWindowUpdate(this.output, 0, this.#unacknowledgedBytes);
    this.#window += this.#unacknowledgedBytes;
    this.#unacknowledgedBytes = 0;
    this.schedule();
  }

  taken(stream: Http2Stream, bytes: number): void {
    stream.unacknowledgedBytes += bytes;
    if (stream.unacknowledgedBytes < UPLOAD_WINDOW_BYTES / 2 || stream.lastFrame || stream.closed) return;
    putWindowUpdate(this.output, stream.id, stream.unacknowledgedBytes);
    stream.receiveWindow += stream.unacknowledgedBytes;
    stream.unacknowledgedBytes = 0;
    this.schedule();
  }

  wanted(stream: Http2Stream): void {
    if (!stream.head.expectsContinue || stream.continued || stream.closed || stream.upload?.begun) return;
    stream.continued = true;
    putContinue(this.output, this.encoder, stream.id, this.peer.frameBytes);
    this.schedule();
  }

  settingsCame(isFirst: boolean): void {
    if (isFirst) this.#stopTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #greet(wholeWindow: number): void {
    putServerSettings(this.output, {
      maxStreams: this.options.maxStreams,
      windowBytes: UPLOAD_WINDOW_BYTES,
      frameBytes: UPLOAD_WINDOW_BYTES,
      headerListBytes: MAX_HEADER_LIST_BYTES,
    });
    if (wholeWindow > this.#window) {
      putWindowUpdate(this.output, 0, wholeWindow - this.#window);
      this.#window = wholeWindow;
    }
    this.schedule();
  }

  /** A request begins. What comes after it may have to wait. */
  // hot: once for each request.
  begins(): void {
    this.paused = this.options.reading.enough(++this.#begun);
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#unread !== undefined) this.#unread = Buffer.concat([this.#unread, bytes]);
    else if (this.options.reading.over) this.#leave(bytes);
    else this.#read(bytes);
  };

  resumeReading(): void {
    this.#waits = false;
    const bytes = this.#unread;
    if (bytes === undefined || this.#full) return;
    this.#unread = undefined;
    this.#read(bytes);
    if (this.#unread === undefined && !this.#full) this.socket.resume();
  }

  #read(bytes: Buffer): void {
    this.#begun = 0;
    this.paused = false;
    try {
      const taken = this.#reader.feed(bytes);
      if (taken < bytes.length && !this.closed) this.#leave(bytes.subarray(taken));
    } catch (error) {
      if (!(error instanceof ConnectionError)) this.options.onError(error);
      this.fail(error instanceof ConnectionError ? error : new ConnectionError(ErrorCode.internal, ''));
    }
    if (this.#full) this.socket.pause();
    if (this.#incoming.greeted) this.#watchHalf();
  }

  #leave(bytes: Buffer): void {
    this.#unread = bytes;
    this.socket.pause();
    this.#waits = true;
    this.options.reading.later(this);
  }

  /** The client does not read, and is not heard for that. */
  get #full(): boolean {
    return this.#writing && this.output.at > MAX_WAITING_BYTES;
  }

  /** What was begun must be ended in its time. */
  #watchHalf(): void {
    if (this.#incoming.insideBlock || this.#reader.insideFrame) {
      this.#timer ??= setTimeout(() => this.socket.destroy(), HEAD_TIMEOUT_MS).unref();
    } else if (this.#timer !== undefined && !this.#ending) {
      this.#stopTimer();
    }
  }

  readonly #onWritten = (): void => {
    if (this.#inFlight !== undefined) this.options.pool.give(this.#inFlight);
    this.#inFlight = undefined;
    this.#writing = false;
    if (this.#unread === undefined) {
      if (this.socket.isPaused()) this.socket.resume();
    } else if (!this.#waits) this.#leave(this.#unread);
    if (this.output.at === 0 && this.outgoing.idle && !this.#ending) return;
    const { scheduler } = this.options;
    if (scheduler.exhausted) this.schedule();
    else scheduler.wrote(this.flush());
  };

  /** Nothing went either way for long. A client that took nothing of what was under way is gone. */
  readonly #onTimeout = (): void => {
    if (this.#writing) this.socket.destroy();
    else if (this.streams.size === 0) this.retire();
  };

  readonly #onGone = (): void => {
    this.closed = true;
    this.retired = true;
    this.#unread = undefined;
    clearTimeout(this.#timer);
    this.#closeStreams();
    this.output.drop();
    this.options.onGone?.(this);
  };

  #closeStreams(): void {
    const streams = [...this.streams.values()];
    this.streams.clear();
    for (const stream of streams) {
      this.#serving.dropped(stream);
      stream.close(CLIENT_GONE);
    }
  }

  /** What was promised to be the last stays so. */
  #goaway(code: ErrorCode, why: string): void {
    if (!this.retired) this.#promised = this.#incoming.lastStream;
    this.retired = true;
    putGoaway(this.output, this.#promised, code, why);
  }

  #endWhenDone(): void {
    if (!this.retired || this.streams.size > 0 || this.#ending) return;
    // A client that still sends is left some time to find its answer: some forget it when they see the end.
    if (this.#answeredEarly) {
      this.#answeredEarly = false;
      setTimeout(() => this.#endWhenDone(), LINGER_MS).unref();
      return;
    }
    this.#ending = true;
    this.closed = true;
    this.schedule();
  }

  #end(): void {
    if (this.socket.writableEnded) return;
    this.socket.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}
