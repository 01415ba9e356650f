// What a server sends: answers, and how they end.
import type { ClientConnection } from './client-connection.js';
import type { ClientStream } from './client-stream.js';
import { ErrorCode } from './error-code.js';
import { FrameRules, protocolError } from './frame-rules.js';
import { Flag, type FrameHead, FrameType } from './frames.js';
import { isBandwidthPing, BANDWIDTH_ANSWER_MS, BANDWIDTH_PING } from './bandwidth-ping.js';
import { ResponseHeads } from './response-heads.js';

export class ClientFrames extends FrameRules<ClientStream> {
  readonly #heads = new ResponseHeads();
  #dataStream: ClientStream | undefined = undefined;
  #dataEndsStream = false;
  #owesBandwidthAnswer = false;

  constructor(private readonly client: ClientConnection) {
    super(client);
  }

  override dataBegins(flags: number, id: number, length: number, padding: number): void {
    this.checkOrder(FrameType.data, flags, id);
    this.checkUsed(id);
    const { client } = this;
    client.received(length);
    const ends = (flags & Flag.endStream) !== 0;
    if (length === padding && !ends) client.guard.spend();
    this.#dataStream = undefined;
    // Of a stream that we took back the server may not know yet.
    const stream = client.streams.get(id);
    if (stream === undefined) return;
    if (!stream.answered) return client.resetStream(id, ErrorCode.protocol);
    if (length > stream.receiveWindow) return client.resetStream(id, ErrorCode.flowControl);
    stream.receiveWindow -= length;
    if (padding > 0) client.taken(stream, padding);
    this.#dataStream = stream;
    this.#dataEndsStream = ends;
  }

  override dataPiece(piece: Buffer): void {
    const stream = this.#dataStream;
    if (stream !== undefined && !stream.closed) stream.onData(piece);
  }

  override dataEnds(): void {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream === undefined || !this.#dataEndsStream || stream.closed) return;
    this.client.finish(stream);
    stream.onEnd();
  }

  protected override checkUsed(id: number): void {
    if (!this.client.hasBegun(id)) throw protocolError('frame on an idle stream');
  }

  // hot: twice for each answer.
  protected override wholeBlock({ flags, stream: id }: FrameHead, bytes: Buffer, start: number, end: number): void {
    this.checkUsed(id);
    const fields = this.#heads.read(bytes, start, end);
    const { client } = this;
    const stream = client.streams.get(id);
    if (stream === undefined) return;
    if (fields === undefined) return client.resetStream(id, ErrorCode.enhanceYourCalm);
    const ends = (flags & Flag.endStream) !== 0;
    if (stream.answered) {
      if (!ends) return client.resetStream(id, ErrorCode.protocol);
      client.finish(stream);
      return stream.onTrailers(fields);
    }
    // An interim answer; the real one follows.
    if (fields[':status']?.startsWith('1') === true && !ends) return client.guard.spend();
    stream.answered = true;
    if (ends) client.finish(stream);
    stream.onHead(fields, ends);
  }

  protected override wasReset(stream: ClientStream, code: number): void {
    this.client.drop(stream, { kind: 'reset', code });
  }

  protected override goaway(lastStream: number, code: number, debugData: string): void {
    this.client.left(lastStream, { code, debugData });
  }

  protected override answerPing(bytes: Buffer, start: number): void {
    if (this.#owesBandwidthAnswer || !isBandwidthPing(bytes, start)) return super.answerPing(bytes, start);
    this.#owesBandwidthAnswer = true;
    this.client.clock.after(BANDWIDTH_ANSWER_MS, () => {
      this.#owesBandwidthAnswer = false;
      if (!this.closed) super.answerPing(BANDWIDTH_PING, 0);
    });
  }

  protected override pingAnswered(): void {
    this.client.pingAnswered();
  }
}
