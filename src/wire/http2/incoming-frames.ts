// What the client sends, frame by frame: RFC 9113, sections 5 and 6. What breaks the rules of one stream ends that
// stream, what breaks those of all ends the connection.
import type { Http2Connection } from './connection.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import type { FrameReceiver } from './frame-reader.js';
import { Flag, FrameType, MOST_WINDOW_BYTES, putPingAck, read31 } from './frames.js';
import { fragmentOf, HeaderBlock } from './header-block.js';
import { type ReadHead, RequestHeads } from './request-heads.js';
import type { Serving } from './serving.js';
import { putSettingsAck } from './settings.js';
import { Http2Stream } from './stream.js';
import { UPLOAD_WINDOW_BYTES } from './upload.js';

const PRIORITY_BYTES = 5;
const protocolError = (message: string): ConnectionError => new ConnectionError(ErrorCode.protocol, message);
const sizeError = (message: string): ConnectionError => new ConnectionError(ErrorCode.frameSize, message);

export class IncomingFrames implements FrameReceiver {
  /** The highest the client has used. */
  lastStream = 0;
  /** From here on it has left out none. */
  #unbrokenFrom = 1;
  /** The client has said what it is. */
  greeted = false;
  readonly #heads = new RequestHeads();
  #block: HeaderBlock | undefined = undefined;
  #dataStream: Http2Stream | undefined = undefined;
  #dataEndsStream = false;
  /** Of ours, which the client has not acknowledged. */
  #settingsUnderWay = 1;

  constructor(
    private readonly connection: Http2Connection,
    private readonly serving: Serving,
    private readonly maxStreams: number,
  ) {}

  get closed(): boolean {
    return this.connection.closed;
  }

  get rests(): boolean {
    return this.connection.rests;
  }

  get insideBlock(): boolean {
    return this.#block !== undefined;
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    this.#checkOrder(type, flags, id);
    const length = end - start;
    switch (type) {
      case FrameType.headers:
        return this.#headers(flags, id, bytes, start, end);
      case FrameType.continuation:
        return this.#continuation(flags, bytes, start, end);
      case FrameType.windowUpdate:
        if (length !== 4) throw sizeError('a window update that is none');
        return this.#windowUpdate(id, read31(bytes, start));
      case FrameType.resetStream:
        if (length !== 4) throw sizeError('a reset that is none');
        return this.#resetStream(id, bytes.readUInt32BE(start));
      case FrameType.settings:
        return this.#settings(flags, id, bytes, start, end);
      case FrameType.ping:
        if (id !== 0) throw protocolError('a ping on a stream');
        if (length !== 8) throw sizeError('a ping that is none');
        return this.#ping(flags, bytes, start);
      case FrameType.goaway:
        if (id !== 0) throw protocolError('an end of one stream for all');
        if (length < 8) throw sizeError('an end that is none');
        return this.connection.retire();
      case FrameType.priority:
        return this.#priority(id, length);
      case FrameType.pushPromise:
        throw protocolError('a client promises nothing');
      default:
        // Of extensions that we have not agreed on.
        this.connection.guard.spend();
    }
  }

  dataBegins(flags: number, id: number, length: number, padding: number): void {
    this.#checkOrder(FrameType.data, flags, id);
    if (id === 0) throw protocolError('a body on no stream');
    const { connection } = this;
    connection.received(length);
    const content = length - padding;
    const ends = (flags & Flag.endStream) !== 0;
    if (content === 0 && !ends) connection.guard.spend();
    const stream = connection.streams.get(id);
    this.#dataStream = undefined;
    if (stream === undefined) return this.#dataOnClosed(id);
    if (stream.received || stream.upload === undefined) return connection.resetStream(id, ErrorCode.streamClosed);
    if (length > stream.receiveWindow) return connection.resetStream(id, ErrorCode.flowControl);
    if (!stream.upload.agrees(content)) return connection.resetStream(id, ErrorCode.protocol);
    stream.receiveWindow -= length;
    stream.lastFrame = ends;
    if (padding > 0) connection.taken(stream, padding);
    this.#dataStream = stream;
    this.#dataEndsStream = ends;
  }

  dataPiece(piece: Buffer): void {
    const stream = this.#dataStream;
    if (stream !== undefined && !stream.closed) stream.upload?.push(piece);
  }

  dataEnds(): void {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream !== undefined && this.#dataEndsStream && !stream.closed) stream.upload?.end();
  }

  /** SETTINGS come first, and nothing inside a block of headers. */
  #checkOrder(type: number, flags: number, id: number): void {
    if (!this.greeted) {
      if (type !== FrameType.settings || (flags & Flag.ack) !== 0) throw protocolError('settings come first');
      this.greeted = true;
      this.connection.greeted();
    }
    const continues = type === FrameType.continuation;
    if (this.#block === undefined) {
      if (continues) throw protocolError('a continuation of nothing');
    } else if (!continues || this.#block.stream !== id) {
      throw protocolError('a frame inside a block of headers');
    }
  }

  #dataOnClosed(id: number): void {
    this.#checkUsed(id);
    const { connection } = this;
    if (connection.retired || connection.wasReset(id)) return;
    connection.guard.spend();
    connection.resetStream(id, ErrorCode.streamClosed);
  }

  /** Streams that never were know HEADERS and PRIORITY only. */
  #checkUsed(id: number): void {
    if (id % 2 === 0 || id > this.lastStream) throw protocolError('a frame on a stream that has not begun');
  }

  #headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id % 2 === 0) throw protocolError('a client has odd streams');
    const fragment = fragmentOf(flags, bytes, start, end);
    if ((flags & Flag.endHeaders) !== 0) return this.#wholeBlock(flags, id, bytes, fragment.start, fragment.end);
    this.#block = new HeaderBlock(id, flags, bytes, fragment.start, fragment.end);
  }

  #continuation(flags: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#block as HeaderBlock;
    if (start === end) this.connection.guard.spend();
    block.add(bytes, start, end);
    if ((flags & Flag.endHeaders) === 0) return;
    this.#block = undefined;
    this.#wholeBlock(block.flags, block.stream, block.bytes, 0, block.length);
  }

  #wholeBlock(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const endStream = (flags & Flag.endStream) !== 0;
    if (id <= this.lastStream) return this.#trailers(endStream, id, bytes, start, end);
    if (id > this.lastStream + 2) this.#unbrokenFrom = id;
    this.lastStream = id;
    const head = this.#heads.read(bytes, start, end);
    this.#request(id, head, endStream);
  }

  // hot: once for each request.
  #request(id: number, head: ReadHead, endStream: boolean): void {
    const { connection } = this;
    connection.begins();
    // Beyond what the client was told is the last.
    if (connection.retired) return;
    if (connection.streams.size >= this.maxStreams) return this.#refuse(id, ErrorCode.refusedStream);
    if (head === 'too large') return this.serving.refuseHead(id, connection.peer.initialWindowBytes, endStream);
    if (head === 'malformed') return this.#refuse(id, ErrorCode.protocol);
    const stream = new Http2Stream(connection, id, head, connection.peer.initialWindowBytes);
    if (!endStream) stream.expectBody(UPLOAD_WINDOW_BYTES);
    this.serving.begin(stream);
  }

  #refuse(id: number, code: ErrorCode): void {
    this.connection.guard.spend();
    this.connection.resetStream(id, code);
  }

  #trailers(endStream: boolean, id: number, bytes: Buffer, start: number, end: number): void {
    const wellFormed = this.#heads.readTrailers(bytes, start, end);
    const { connection } = this;
    const stream = connection.streams.get(id);
    if (stream === undefined) {
      if (connection.wasReset(id)) return connection.guard.spend();
      if (id < this.#unbrokenFrom) throw protocolError('a stream that may have been left out');
      throw new ConnectionError(ErrorCode.streamClosed, 'headers on a stream that is closed');
    }
    if (stream.received || stream.upload === undefined) return connection.resetStream(id, ErrorCode.streamClosed);
    if (!endStream || !wellFormed) return connection.resetStream(id, ErrorCode.protocol);
    stream.upload.end();
  }

  #windowUpdate(id: number, increment: number): void {
    const { connection } = this;
    const { outgoing } = connection;
    connection.guard.spend();
    if (id === 0) {
      if (increment === 0) throw protocolError('a window that does not widen');
      outgoing.widen(increment);
      if (!outgoing.empty) connection.schedule();
      return;
    }
    const stream = connection.streams.get(id);
    if (stream === undefined) return this.#checkUsed(id);
    if (increment === 0) return connection.resetStream(id, ErrorCode.protocol);
    stream.sendWindow += increment;
    if (stream.sendWindow > MOST_WINDOW_BYTES) return connection.resetStream(id, ErrorCode.flowControl);
    connection.send(stream);
  }

  #resetStream(id: number, code: number): void {
    this.#checkUsed(id);
    const { connection } = this;
    connection.guard.spend();
    const stream = connection.streams.get(id);
    if (stream === undefined) return;
    this.serving.dropped(stream);
    connection.forget(stream, CLIENT_RESET, code);
  }

  #settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const { connection } = this;
    if (id !== 0) throw protocolError('settings on a stream');
    if ((flags & Flag.ack) !== 0) {
      if (end > start) throw sizeError('an acknowledgement that says something');
      if (--this.#settingsUnderWay < 0) throw protocolError('an acknowledgement of nothing');
      return;
    }
    connection.guard.spend();
    const { peer } = connection;
    const before = peer.initialWindowBytes;
    peer.read(bytes, start, end);
    connection.encoder.limitTable(peer.headerTableBytes);
    if (peer.initialWindowBytes !== before) this.#changeWindows(peer.initialWindowBytes - before);
    putSettingsAck(connection.output);
    connection.schedule();
  }

  #changeWindows(change: number): void {
    for (const stream of this.connection.streams.values()) {
      stream.sendWindow += change;
      if (stream.sendWindow > MOST_WINDOW_BYTES) {
        throw new ConnectionError(ErrorCode.flowControl, 'the window of a stream is too large');
      }
      this.connection.send(stream);
    }
  }

  #ping(flags: number, bytes: Buffer, start: number): void {
    this.connection.guard.spend();
    if ((flags & Flag.ack) !== 0) return;
    putPingAck(this.connection.output, bytes, start);
    this.connection.schedule();
  }

  /** Nobody here sends by priorities, but a frame must be one. */
  #priority(id: number, length: number): void {
    if (id === 0) throw protocolError('a priority of no stream');
    this.connection.guard.spend();
    if (length === PRIORITY_BYTES) return;
    if (!this.connection.streams.has(id)) throw sizeError('a priority that is none');
    this.connection.resetStream(id, ErrorCode.frameSize);
  }
}

const CLIENT_RESET = new Error('the client is gone');
