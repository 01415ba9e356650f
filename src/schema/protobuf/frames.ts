// The watch stream in protobuf: frames of four length bytes and an event message, whose object is an envelope.
//
//   length │ 0x0a type │ 0x12 length │ 0x0a length │ envelope

import { putVarint, varintBytes } from './varint.js';

export const FRAME_HEAD_BYTES = 4;
const TYPE_TAG = 0x0a;
const OBJECT_TAG = 0x12;
const RAW_TAG = 0x0a;

// hot: once for each event and form
/** A watch event around an object that is already in its envelope, passed in parts, framed. */
export function protobufWatchEvent(type: string, ...envelope: readonly Uint8Array[]): Buffer {
  let envelopeBytes = 0;
  for (const part of envelope) envelopeBytes += part.length;
  const rawBytes = 1 + varintBytes(envelopeBytes) + envelopeBytes;
  const messageBytes = 2 + type.length + 1 + varintBytes(rawBytes) + rawBytes;
  const frame = Buffer.allocUnsafeSlow(FRAME_HEAD_BYTES + messageBytes);
  let at = frame.writeUInt32BE(messageBytes, 0);
  frame[at++] = TYPE_TAG;
  frame[at++] = type.length;
  at += frame.write(type, at, 'latin1');
  frame[at++] = OBJECT_TAG;
  at = putVarint(frame, at, rawBytes);
  frame[at++] = RAW_TAG;
  at = putVarint(frame, at, envelopeBytes);
  for (const part of envelope) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}
