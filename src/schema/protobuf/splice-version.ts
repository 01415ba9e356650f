// An object that was stored in protobuf, as it is sent: the same bytes, with a resourceVersion where its empty field is.
//
//   0x12 │ length │ 0x0a │ length │ name … uid │ 0x32 │ 0 │ generation … │ spec, status, …      as stored
//   0x12 │ length │ 0x0a │ length │ name … uid │ 0x32 │ 2 "17" │ generation … │ spec, …        as sent
//
// Both lengths grow by the version's.
import { putVarint, varintBytes } from './varint.js';

const ELEMENT_TAG = 0x12;
const METADATA_TAG = 0x0a;
const VERSION_TAG = 0x32;
/** Of the fields in front of it: name, generateName, namespace, selfLink, uid. */
const TAGS_BEFORE = [0x0a, 0x12, 0x1a, 0x22, 0x2a];
/** A version has at most sixteen digits. */
const MAX_VERSION_LENGTH = 127;

/** The element that begins at `start`, with the version; undefined for bytes that our encoder does not write so. */
export function spliceProtobufVersion(stored: Buffer, start: number, version: string): Buffer | undefined {
  if (stored[start] !== ELEMENT_TAG || version.length > MAX_VERSION_LENGTH) return undefined;
  const message = lengthAt(stored, start + 1);
  if (stored[message.end] !== METADATA_TAG) return undefined;
  const metadata = lengthAt(stored, message.end + 1);
  let at = metadata.end;
  for (const tag of TAGS_BEFORE) {
    if (stored[at] !== tag) return undefined;
    const { value, end } = lengthAt(stored, at + 1);
    at = end + value;
  }
  const messageEnd = message.end + message.value;
  if (stored[at] !== VERSION_TAG || stored[at + 1] !== 0 || messageEnd > stored.length) return undefined;
  const metadataBytes = metadata.value + version.length;
  const grownHead = varintBytes(metadataBytes) - (metadata.end - message.end - 1);
  const messageBytes = message.value + version.length + grownHead;
  const element = Buffer.allocUnsafe(1 + varintBytes(messageBytes) + messageBytes);
  element[0] = ELEMENT_TAG;
  let to = putVarint(element, 1, messageBytes);
  element[to++] = METADATA_TAG;
  to = putVarint(element, to, metadataBytes);
  to += stored.copy(element, to, metadata.end, at + 1);
  element[to++] = version.length;
  to += element.write(version, to, 'latin1');
  stored.copy(element, to, at + 2, messageEnd);
  return element;
}

/** A length of up to 32 bits; of anything else, one that is beyond all buffers. */
function lengthAt(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start, factor = 1; at < start + 5; at++, factor *= 128) {
    const byte = bytes[at] ?? 0xff;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return { value: Number.MAX_SAFE_INTEGER, end: bytes.length };
}
