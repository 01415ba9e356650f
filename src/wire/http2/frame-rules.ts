// What both ends hold to, frame by frame: RFC 9113, sections 5 and 6. What breaks the rules of one stream ends that
// stream, what breaks those of all ends the connection. What a frame means to a server or a client, they say themselves.
import type { TransientMap } from '../../lib/values/transient-map.js';
import type { HpackEncoder } from '../hpack/encoder.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import type { FloodGuard } from './flood-guard.js';
import type { FrameReceiver } from './frame-reader.js';
import { Flag, type FrameHead, FrameType, MAX_WINDOW_BYTES, putPingAck, read31 } from './frames.js';
import { fragmentOf, HeaderBlock } from './header-block.js';
import type { Outgoing, OutgoingStream } from './outgoing.js';
import type { Output } from './output.js';
import { type PeerSettings, putSettingsAck } from './settings.js';

/** What the rules need of a connection. */
export interface RuledConnection<S extends OutgoingStream<S>> {
  /** No frame is read any more. */
  readonly closed: boolean;
  /** No frame is read for now. */
  readonly paused: boolean;
  readonly peer: PeerSettings;
  readonly encoder: HpackEncoder;
  readonly guard: FloodGuard;
  readonly output: Output;
  readonly outgoing: Outgoing<S>;
  readonly streams: Pick<TransientMap<number, S>, 'get' | 'has' | 'values'>;
  /** The other end has said what it is, for the first time or anew. */
  settingsCame(isFirst: boolean): void;
  /** Flushes `output` at the end of this event-loop turn. */
  schedule(): void;
  /** The stream has something to send, or a window for it. */
  send(stream: S): void;
  resetStream(id: number, code: ErrorCode): void;
}

const PRIORITY_BYTES = 5;
export const protocolError = (message: string): ConnectionError => new ConnectionError(ErrorCode.protocol, message);
const sizeError = (message: string): ConnectionError => new ConnectionError(ErrorCode.frameSize, message);

export abstract class FrameRules<S extends OutgoingStream<S>> implements FrameReceiver {
  /** The other end has said what it is. */
  greeted = false;
  readonly #connection: RuledConnection<S>;
  #block: HeaderBlock | undefined = undefined;
  /** Of ours, which the other end has not acknowledged. */
  #settingsUnderWay = 1;
  #settingsRead = false;

  constructor(connection: RuledConnection<S>) {
    this.#connection = connection;
  }

  get closed(): boolean {
    return this.#connection.closed;
  }

  get paused(): boolean {
    return this.#connection.paused;
  }

  get insideBlock(): boolean {
    return this.#block !== undefined;
  }

  /** The fields of a stream's head or trailers, all of them; `head` is that of their HEADERS. */
  protected abstract wholeBlock(head: FrameHead, bytes: Buffer, start: number, end: number): void;
  /** Throws for an idle stream, on which only HEADERS and PRIORITY are allowed. */
  protected abstract checkUsed(id: number): void;
  /** The other end took the stream back. */
  protected abstract wasReset(stream: S, code: number): void;
  protected abstract goaway(lastStream: number, code: number, debugData: string): void;
  /** An answer to a ping of ours. */
  protected abstract pingAnswered(): void;
  abstract dataBegins(flags: number, id: number, length: number, padding: number): void;
  abstract dataPiece(piece: Buffer): void;
  abstract dataEnds(): void;

  frame(head: FrameHead, bytes: Buffer, start: number, end: number): void {
    const { type, flags, stream: id } = head;
    this.checkOrder(type, flags, id);
    const length = end - start;
    switch (type) {
      case FrameType.headers:
        return this.#headers(head, bytes, start, end);
      case FrameType.continuation:
        return this.#continuation(flags, bytes, start, end);
      case FrameType.windowUpdate:
        if (length !== 4) throw sizeError('WINDOW_UPDATE frame with a length other than 4');
        return this.#windowUpdate(id, read31(bytes, start));
      case FrameType.resetStream:
        if (length !== 4) throw sizeError('RST_STREAM frame with a length other than 4');
        return this.#resetStream(id, bytes.readUInt32BE(start));
      case FrameType.settings:
        return this.#settings(head, bytes, start, end);
      case FrameType.ping:
        if (id !== 0) throw protocolError('PING frame on a stream');
        if (length !== 8) throw sizeError('PING frame with a length other than 8');
        return this.#ping(flags, bytes, start);
      case FrameType.goaway:
        if (id !== 0) throw protocolError('GOAWAY frame on a stream');
        if (length < 8) throw sizeError('GOAWAY frame shorter than 8');
        return this.goaway(read31(bytes, start), bytes.readUInt32BE(start + 4), bytes.toString('utf8', start + 8, end));
      case FrameType.priority:
        return this.#priority(id, length);
      case FrameType.pushPromise:
        throw protocolError('PUSH_PROMISE frame although push is disabled');
      default:
        // Of extensions that we have not agreed on.
        this.#connection.guard.spend();
    }
  }

  /** SETTINGS come first, and nothing inside a block of headers. */
  protected checkOrder(type: number, flags: number, id: number): void {
    if (!this.greeted) {
      if (type !== FrameType.settings || (flags & Flag.ack) !== 0) throw protocolError('first frame is not SETTINGS');
      this.greeted = true;
    }
    const continues = type === FrameType.continuation;
    if (this.#block === undefined) {
      if (continues) throw protocolError('CONTINUATION frame without HEADERS');
    } else if (!continues || this.#block.head.stream !== id) {
      throw protocolError('frame inside a field block');
    }
  }

  #headers(head: FrameHead, bytes: Buffer, start: number, end: number): void {
    if (head.stream % 2 === 0) throw protocolError('HEADERS frame on an even stream identifier');
    const fragment = fragmentOf(head.flags, bytes, start, end);
    if ((head.flags & Flag.endHeaders) !== 0) return this.wholeBlock(head, bytes, fragment.start, fragment.end);
    this.#block = new HeaderBlock(head, bytes, fragment.start, fragment.end);
  }

  #continuation(flags: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#block as HeaderBlock;
    if (start === end) this.#connection.guard.spend();
    block.add(bytes, start, end);
    if ((flags & Flag.endHeaders) === 0) return;
    this.#block = undefined;
    this.wholeBlock(block.head, block.bytes, 0, block.length);
  }

  #windowUpdate(id: number, increment: number): void {
    const connection = this.#connection;
    const { outgoing } = connection;
    connection.guard.spend();
    if (id === 0) {
      if (increment === 0) throw protocolError('WINDOW_UPDATE frame with an increment of 0');
      outgoing.widen(increment);
      if (!outgoing.empty) connection.schedule();
      return;
    }
    const stream = connection.streams.get(id);
    if (stream === undefined) return this.checkUsed(id);
    if (increment === 0) return connection.resetStream(id, ErrorCode.protocol);
    stream.sendWindow += increment;
    if (stream.sendWindow > MAX_WINDOW_BYTES) return connection.resetStream(id, ErrorCode.flowControl);
    connection.send(stream);
  }

  #resetStream(id: number, code: number): void {
    this.checkUsed(id);
    const connection = this.#connection;
    connection.guard.spend();
    const stream = connection.streams.get(id);
    if (stream !== undefined) this.wasReset(stream, code);
  }

  #settings({ flags, stream }: FrameHead, bytes: Buffer, start: number, end: number): void {
    const connection = this.#connection;
    if (stream !== 0) throw protocolError('SETTINGS frame on a stream');
    if ((flags & Flag.ack) !== 0) {
      if (end > start) throw sizeError('SETTINGS acknowledgement with a payload');
      if (--this.#settingsUnderWay < 0) throw protocolError('SETTINGS acknowledgement without SETTINGS');
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
    connection.settingsCame(!this.#settingsRead);
    this.#settingsRead = true;
  }

  #changeWindows(change: number): void {
    const connection = this.#connection;
    for (const stream of connection.streams.values()) {
      stream.sendWindow += change;
      if (stream.sendWindow > MAX_WINDOW_BYTES) {
        throw new ConnectionError(ErrorCode.flowControl, 'stream flow-control window exceeds 2^31-1');
      }
      connection.send(stream);
    }
  }

  #ping(flags: number, bytes: Buffer, start: number): void {
    this.#connection.guard.spend();
    if ((flags & Flag.ack) !== 0) return this.pingAnswered();
    this.answerPing(bytes, start);
  }

  protected answerPing(bytes: Buffer, start: number): void {
    putPingAck(this.#connection.output, bytes, start);
    this.#connection.schedule();
  }

  /** Nobody here sends by priorities, but a frame must be one. */
  #priority(id: number, length: number): void {
    if (id === 0) throw protocolError('PRIORITY frame on stream 0');
    const connection = this.#connection;
    connection.guard.spend();
    if (length === PRIORITY_BYTES) return;
    if (!connection.streams.has(id)) throw sizeError('PRIORITY frame with a length other than 5');
    connection.resetStream(id, ErrorCode.frameSize);
  }
}
