// The watch stream in protobuf: frames of four length bytes and an event message, whose object is an envelope.

export const FRAME_HEAD_BYTES = 4;

/** One frame of a protobuf stream. */
function protobufFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafeSlow(FRAME_HEAD_BYTES + message.length);
  frame.writeUInt32BE(message.length, 0);
  frame.set(message, FRAME_HEAD_BYTES);
  return frame;
}

/** A watch event around an object that is already in its envelope, framed. */
export function protobufWatchEvent(type: string, object: Uint8Array): Buffer {
  const typeBytes = Buffer.from(type);
  const raw = lengthDelimited(0x0a, object);
  return protobufFrame(Buffer.concat([lengthDelimited(0x0a, typeBytes), Buffer.from([0x12]), varint(raw.length), raw]));
}

/** Cuts a stream into its frames. Gives the frames that are whole and keeps the rest. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  constructor(readonly maxFrameBytes = 16 * 1024 * 1024) {}

  push(chunk: Uint8Array): Buffer[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    while (this.#rest.length >= 4) {
      const length = this.#rest.readUInt32BE(0);
      if (length > this.maxFrameBytes) throw new Error(`a frame of ${length} bytes is over the limit`);
      if (this.#rest.length < 4 + length) break;
      frames.push(this.#rest.subarray(4, 4 + length));
      this.#rest = this.#rest.subarray(4 + length);
    }
    return frames;
  }
}

const lengthDelimited = (tag: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([tag]), varint(bytes.length), bytes]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
