// The envelope around a protobuf object: four bytes as a mark, then its kind, its bytes and what they are.
import { bufferOf } from '../../lib/values/buffer-of.js';
import { apiVersionFault } from '../../machinery/object.js';
import type { StructType } from '../type.js';
import { DecodeError } from '../json/walk.js';
import { decodeMessage } from './decode.js';
import { writeMessage } from './encode.js';
import { Reader } from './reader.js';
import { refuseEndOfGroup, refuseNumberZero, wrongWireType } from './refusals.js';
import { Writer } from './writer.js';

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
  readonly contentEncoding: string;
  readonly contentType: string;
}

const protobufMark = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const spareWriter = new Writer();

/** An object with `kind` and `apiVersion` as `application/vnd.kubernetes.protobuf`. */
export const encodeProtobuf = (type: StructType, object: Named): Buffer => {
  try {
    // The writer fills its buffer from the end, so that each length is known when it is written.
    writeTail(spareWriter);
    const beforeMessage = spareWriter.written;
    writeMessage(type, object, spareWriter);
    writeHead(object, spareWriter.written - beforeMessage, spareWriter);
    return spareWriter.finish();
  } finally {
    spareWriter.reset();
  }
};

interface Named {
  readonly kind?: string;
  readonly apiVersion?: string;
}

/** The envelope in parts, for a list whose elements are written one by one: its last field, which `elementBytes` fill. */
export function protobufListParts(type: StructType, list: Named, elementBytes: number): { head: Buffer; tail: Buffer } {
  try {
    writeTail(spareWriter);
    const tail = spareWriter.finish();
    writeMessage(type, list, spareWriter);
    writeHead(list, spareWriter.written + elementBytes, spareWriter);
    return { head: spareWriter.finish(), tail };
  } finally {
    spareWriter.reset();
  }
}

/** The field of an envelope's message, and of the items of every list. */
export const ELEMENT_FIELD = 2;

/** What an envelope begins with: the mark and the type. */
export function protobufEnvelopeHead(kind: string, apiVersion: string): Buffer {
  try {
    writeTypeMeta(kind, apiVersion, spareWriter);
    return spareWriter.finish();
  } finally {
    spareWriter.reset();
  }
}

/** What it ends with: no content encoding, and no content type. */
export const PROTOBUF_ENVELOPE_TAIL = Buffer.from([0x1a, 0, 0x22, 0]);

/** A message with its length in front, as an element of a list in that field. */
export const protobufElement = (type: StructType, object: object, proto: number): Buffer =>
  Buffer.from(lentProtobufElement(type, object, proto));

// hot: every item of a list in protobuf that is not kept
/** An element of a list in that field, in memory that whatever is encoded next overwrites. */
export function lentProtobufElement(type: StructType, object: object, proto: number): Buffer {
  try {
    writeMessage(type, object, spareWriter);
    spareWriter.varint(spareWriter.written);
    spareWriter.varint(proto * 8 + LENGTH_DELIMITED);
    return spareWriter.lend();
  } finally {
    spareWriter.reset();
  }
}

const LENGTH_DELIMITED = 2;

function writeTail(writer: Writer): void {
  for (let i = PROTOBUF_ENVELOPE_TAIL.length - 1; i >= 0; i--) writer.byte(PROTOBUF_ENVELOPE_TAIL[i] ?? 0);
}

function writeHead({ kind = '', apiVersion = '' }: Named, messageBytes: number, writer: Writer): void {
  writer.varint(messageBytes);
  writer.byte(0x12);
  writeTypeMeta(kind, apiVersion, writer);
}

function writeTypeMeta(kind: string, apiVersion: string, writer: Writer): void {
  const beforeType = writer.written;
  writer.string(kind);
  writer.byte(0x12);
  writer.string(apiVersion);
  writer.byte(0x0a);
  writer.varint(writer.written - beforeType);
  writer.byte(0x0a);
  for (let i = 3; i >= 0; i--) writer.byte(protobufMark[i] ?? 0);
}

export function decodeProtobuf(type: StructType, bytes: Uint8Array): Record<string, unknown> {
  const { apiVersion, kind, raw } = readEnvelope(bytes);
  const object = decodeMessage(type, raw);
  if (type.isKind !== true) return object;
  return { ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }), ...object };
}

export const isProtobuf = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73 && bytes[3] === 0x00;

export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new DecodeError('empty data');
  if (!isProtobuf(bytes)) {
    throw new DecodeError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  if (bytes.length === 4) throw new DecodeError('empty body');
  const reader = new Reader(bufferOf(bytes));
  reader.pos = 4;
  const envelope = { apiVersion: '', kind: '', raw: Buffer.alloc(0), contentEncoding: '', contentType: '' };
  readFields(reader, 'Unknown', ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType'], (field) => {
    if (field === 'TypeMeta') readTypeMeta(reader, envelope);
    else if (field === 'Raw') envelope.raw = Buffer.from(reader.bytes());
    else if (field === 'ContentEncoding') envelope.contentEncoding = reader.string();
    else envelope.contentType = reader.string();
  });
  // A version that is none counts as absent.
  if (apiVersionFault(envelope.apiVersion) !== undefined) envelope.apiVersion = '';
  return envelope;
}

/** The version alone, where the envelope begins with it as all that servers write do; empty where not. */
export function envelopeApiVersion(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  const reader = new Reader(buffer);
  reader.pos = 4;
  if (buffer[4] !== TYPE_META) return '';
  reader.varint();
  const typeMeta = { apiVersion: '', kind: '' };
  readTypeMeta(reader, typeMeta);
  return typeMeta.apiVersion;
}

/** The tag of the envelope's first field. */
const TYPE_META = 0x0a;

/** What it does not say stays as it was. */
function readTypeMeta(reader: Reader, typeMeta: { apiVersion: string; kind: string }): void {
  const outer = reader.enter();
  readFields(reader, 'TypeMeta', ['APIVersion', 'Kind'], (field) => {
    if (field === 'Kind') typeMeta.kind = reader.string();
    else typeMeta.apiVersion = reader.string();
  });
  reader.leave(outer);
}

/** The fields of a message, which are numbered from one and all have a length. */
function readFields<Name extends string>(
  reader: Reader,
  message: string,
  names: readonly Name[],
  read: (name: Name) => void,
): void {
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    const wireType = tag & 7;
    refuseEndOfGroup(wireType, message);
    const number = tag >>> 3;
    refuseNumberZero(number, tag, reader, message);
    const name = names[number - 1];
    if (name === undefined) reader.skip(wireType);
    else if (wireType === LENGTH_DELIMITED) read(name);
    else throw wrongWireType(wireType, name);
  }
}
