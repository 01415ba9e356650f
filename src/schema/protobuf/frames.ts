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

const lengthDelimited = (tag: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([tag]), varint(bytes.length), bytes]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
