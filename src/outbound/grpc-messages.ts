// Messages on a gRPC stream: a flag, four bytes of length, the message.
import { goQuote } from '../lib/go/quote.js';
import { MessageSplitter } from '../lib/values/message-splitter.js';
import { GrpcError, INTERNAL, RESOURCE_EXHAUSTED } from './grpc-error.js';

const HEAD_BYTES = 5;

/** One length-prefixed, uncompressed message. */
export function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, HEAD_BYTES);
  return frame;
}

/** What stands before a message of so many bytes. */
export function messageHead(bytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head[0] = 0;
  head.writeUInt32BE(bytes, 1);
  return head;
}

/** The message that a piece is, no more and no less; undefined where it is anything else. */
// hot: once for each answer.
export function wholeMessage(piece: Buffer, maxBytes: number): Buffer | undefined {
  if (piece.length < HEAD_BYTES || piece[0] !== 0) return undefined;
  const size = piece.readUInt32BE(1);
  return size === piece.length - HEAD_BYTES && size <= maxBytes ? piece.subarray(HEAD_BYTES) : undefined;
}

export class MessageReader {
  readonly #maxMessageBytes: number;
  readonly #splitter = new MessageSplitter({ bytes: HEAD_BYTES, lengthIn: (buffer) => this.#sizeIn(buffer) });
  /** The `grpc-encoding` of the response headers. */
  encoding = '';

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** The messages that a chunk completes; throws a GrpcError for what cannot be read. */
  take(chunk: Buffer): Buffer[] {
    return this.#splitter.take(chunk);
  }

  /** A message has begun, and its length is known. */
  get isInside(): boolean {
    return this.#splitter.isInside;
  }

  #sizeIn(buffer: Buffer): number {
    const size = buffer.readUInt32BE(1);
    const max = this.#maxMessageBytes;
    if (size > max) {
      throw unread(RESOURCE_EXHAUSTED, `grpc: received message larger than max (${size} vs. ${max})`);
    }
    if (buffer[0] !== 0) throw unread(INTERNAL, this.#formFault(buffer[0] ?? 0));
    return size;
  }

  #formFault(flag: number): string {
    if (flag !== 1) return `grpc: received unexpected payload format ${flag}`;
    return this.encoding === '' || this.encoding === 'identity'
      ? 'grpc: compressed flag set with identity or empty encoding'
      : `grpc: Decompressor is not installed for grpc-encoding ${goQuote(this.encoding)}`;
  }
}

const unread = (status: number, message: string): GrpcError => new GrpcError({ status, message, sent: true });
