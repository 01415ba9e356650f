// The frames of a client: requests, their bodies, and resets.
import { ConnectionError, ErrorCode } from './error-code.js';
import { FrameRules, protocolError } from './frame-rules.js';
import { Flag, type FrameHead, FrameType } from './frames.js';
import { type ReadHead, RequestHeads } from './request-heads.js';
import type { ServerConnection } from './server-connection.js';
import type { Serving } from './serving.js';
import { Http2Stream } from './stream.js';
import { UPLOAD_WINDOW_BYTES } from './upload.js';

export class IncomingFrames extends FrameRules<Http2Stream> {
  /** The highest the client has used. */
  lastStream = 0;
  /** From here on it has left out none. */
  #unbrokenFrom = 1;
  readonly #heads = new RequestHeads();
  #dataStream: Http2Stream | undefined = undefined;
  #dataEndsStream = false;

  constructor(
    private readonly connection: ServerConnection,
    private readonly serving: Serving,
    private readonly maxStreams: number,
  ) {
    super(connection);
  }

  override dataBegins(flags: number, id: number, length: number, padding: number): void {
    this.checkOrder(FrameType.data, flags, id);
    if (id === 0) throw protocolError('DATA frame on stream 0');
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

  override dataPiece(piece: Buffer): void {
    const stream = this.#dataStream;
    if (stream !== undefined && !stream.closed) stream.upload?.push(piece);
  }

  override dataEnds(): void {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream !== undefined && this.#dataEndsStream && !stream.closed) stream.upload?.end();
  }

  #dataOnClosed(id: number): void {
    this.checkUsed(id);
    const { connection } = this;
    if (connection.retired || connection.wasReset(id)) return;
    connection.guard.spend();
    connection.resetStream(id, ErrorCode.streamClosed);
  }

  protected override checkUsed(id: number): void {
    if (id % 2 === 0 || id > this.lastStream) throw protocolError('frame on an idle stream');
  }

  protected override wholeBlock(block: FrameHead, bytes: Buffer, start: number, end: number): void {
    const { flags, stream: id } = block;
    const endStream = (flags & Flag.endStream) !== 0;
    if (id <= this.lastStream) return this.#trailers(block, this.#heads.readTrailers(bytes, start, end));
    if (id > this.lastStream + 2) this.#unbrokenFrom = id;
    this.lastStream = id;
    const head = this.#heads.read(bytes, start, end);
    this.#request(id, head, endStream);
  }

  // hot: once for each request.
  #request(id: number, head: ReadHead, endStream: boolean): void {
    const { connection } = this;
    connection.begins();
    // The stream is beyond the last id that GOAWAY announced.
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

  #trailers({ flags, stream: id }: FrameHead, wellFormed: boolean): void {
    const { connection } = this;
    const stream = connection.streams.get(id);
    if (stream === undefined) {
      if (connection.wasReset(id)) return connection.guard.spend();
      if (id < this.#unbrokenFrom) throw protocolError('HEADERS frame on a stream identifier that was skipped');
      throw new ConnectionError(ErrorCode.streamClosed, 'HEADERS frame on a closed stream');
    }
    if (stream.received || stream.upload === undefined) return connection.resetStream(id, ErrorCode.streamClosed);
    if ((flags & Flag.endStream) === 0 || !wellFormed) return connection.resetStream(id, ErrorCode.protocol);
    stream.upload.end();
  }

  protected override wasReset(stream: Http2Stream, code: number): void {
    this.serving.dropped(stream);
    this.connection.forget(stream, CLIENT_RESET, code);
  }

  /** Open streams of a client that sends GOAWAY are still answered. */
  protected override goaway(): void {
    this.connection.retire();
  }

  /** A server sends no PING. */
  protected override pingAnswered(): void {}
}

const CLIENT_RESET = new Error('the client is gone');
