// Objects to bytes and back, by media type.
import { decodeCbor, decodeCborCustom, MissingKind, sentCborKind } from '../../schema/cbor/decode.js';
import { cborWatchEvent, encodeCbor, encodeCborTree } from '../../schema/cbor/encode.js';
import { canonicalBase64 } from '../../schema/json/scalar.js';
import { decodeJson, DecodeError, decodeTree, parseJsonTree } from '../../schema/json/decode.js';
import { encodeJson } from '../../schema/json/encode.js';
import {
  decodeProtobuf,
  encodeProtobuf,
  envelopeApiVersion,
  isProtobuf,
  readEnvelope,
} from '../../schema/protobuf/envelope.js';
import { FRAME_HEAD_BYTES, protobufWatchEvent } from '../../schema/protobuf/frames.js';
import type { StructType } from '../../schema/type.js';
import { decodeYaml, sentYamlKind } from '../../schema/yaml/decode.js';
import { parseYaml } from '../../schema/yaml/parse.js';
import { yamlSteps } from '../../schema/yaml/encode.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { MediaType } from './media-types.js';
import { type SentKind, sentKind, unreadable } from '../../schema/json/sent-kind.js';

const OPENING_BRACE = 0x7b;

export interface Decoded {
  readonly object: object;
  /** What strict decoding found, in kube-apiserver's words and order. */
  readonly strictErrors: readonly string[];
}

/** A body that cannot be decoded as an object, with as much of its kind as could be read. */
export class WireError extends Error {
  constructor(
    message: string,
    readonly kind?: string,
    readonly apiVersion?: string,
  ) {
    super(message);
  }
}

export function encodeObject(media: MediaType, type: StructType, object: object): Buffer {
  switch (media.encoding) {
    case 'json':
      return Buffer.from(encodeJson(type, object));
    case 'yaml':
      return runSync(yamlBytes(type, object));
    case 'protobuf':
      return encodeProtobuf(type, object);
    case 'cbor':
      return type.unstructured === undefined ? encodeCbor(type, object) : encodeCborTree(object);
  }
}

/** A large object as YAML. */
export function* yamlBytes(type: StructType, object: object): StepGenerator<Buffer> {
  const json = encodeJson(type, object);
  yield;
  const tree = decodeJson(type, json, { strict: false }).object;
  yield;
  return Buffer.from(yield* yamlSteps(tree));
}

export function decodeObject(media: MediaType, type: StructType, bytes: Buffer, strict: boolean): Decoded {
  try {
    switch (media.encoding) {
      case 'json': {
        const { object, strictErrors } = decodeSentJson(type, bytes, strict);
        return { object, strictErrors };
      }
      case 'yaml':
        return decodeYaml(type, bytes, strict);
      case 'protobuf':
        if (type.unstructured !== undefined) throw new WireError('custom resources have no protobuf form');
        return { object: decodeProtobuf(type, bytes), strictErrors: [] };
      case 'cbor':
        return type.unstructured === undefined
          ? decodeCbor(type, bytes, { strict })
          : // kube-apiserver reports unknown fields of JSON and YAML alone.
            decodeTree(type, decodeCborCustom(bytes), { strict: false });
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (error instanceof MissingKind) throw new WireError(error.message, error.kind, '');
    throw wireError(media, bytes, error);
  }
}

/**
 * Decoded strictly for every caller: a member that is named twice means something to those without warnings, too, and so
 * does an unknown member, where it is the kind in characters of another case.
 */
export function decodeSentJson(type: StructType, bytes: Buffer, strict: boolean): ReturnType<typeof decodeJson> {
  const decoded = decodeJson(type, bytes, { strict: true });
  if (decoded.strictErrors.length > 0 && type.unstructured === undefined) {
    Object.assign(decoded.object, sentKind(jsonTree(bytes)));
  }
  return strict ? decoded : { ...decoded, strictErrors: [] };
}

/** What is wrong with a body: that nothing of it can be read, or what its kind does not allow. */
export function wireError(media: MediaType, bytes: Buffer, error: DecodeError): WireError {
  try {
    const { kind, apiVersion } = kindOf(media, bytes);
    return new WireError(error.message, kind, apiVersion);
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause;
    return new WireError(cause.message);
  }
}

/** What a body says it is. Throws a DecodeError. */
export function kindOf(media: MediaType, bytes: Buffer): SentKind {
  switch (media.encoding) {
    case 'json':
      return sentKind(jsonTree(bytes));
    case 'yaml':
      return sentYamlKind(parseYaml(bytes).value);
    case 'protobuf':
      return readEnvelope(bytes);
    case 'cbor':
      return cborKind(bytes);
  }
}

function cborKind(bytes: Buffer): SentKind {
  try {
    return sentCborKind(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`unable to determine group/version/kind: ${error.message}`);
  }
}

function jsonTree(bytes: Buffer): unknown {
  try {
    // Numbers out of range are reported by their decoder, with their place.
    return parseJsonTree(bytes, { keepFloats: true }).value;
  } catch (error) {
    throw error instanceof DecodeError ? unreadable(error.message) : error;
  }
}

/**
 * What a store of kube-apiserver's may hold, whatever is written there today: its protobuf envelope, JSON or YAML, and any
 * of them in base64, from long ago. For what is none of these the error is the last one's.
 */
export function decodeStored(type: StructType, bytes: Buffer): object {
  if (isProtobuf(bytes) || bytes[0] === OPENING_BRACE) return decodeUnwrapped(type, bytes);
  try {
    return decodeUnwrapped(type, bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return decodeUnwrapped(type, Buffer.from(canonicalBase64(bytes.toString('latin1')), 'base64'));
  }
}

/** The version in stored bytes, as kube-apiserver writes them; empty where it does not stand at the start. */
export function storedApiVersion(bytes: Buffer): string {
  if (isProtobuf(bytes)) return envelopeApiVersion(bytes);
  const beginning = bytes.toString('latin1', 0, STORED_HEAD_BYTES);
  return STORED_HEAD.exec(beginning)?.[1] ?? '';
}

/** Kinds and versions are short. */
const STORED_HEAD_BYTES = 256;
const STORED_HEAD = /^(?:\{"kind":"\w*","apiVersion":"|apiVersion: )([\w./-]+)["\n]/;

function decodeUnwrapped(type: StructType, bytes: Buffer): object {
  if (isProtobuf(bytes)) return decodeProtobuf(type, bytes);
  if (bytes[0] === OPENING_BRACE) return decodeJson(type, bytes, { strict: false }).object;
  return decodeYaml(type, bytes, false).object;
}

/** One event of a watch, framed for its media type. */
export function frameEvent(media: MediaType, type: string, object: Buffer): Buffer {
  switch (media.encoding) {
    case 'json':
      return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, Buffer.from('}\n')]);
    case 'yaml':
      throw new Error('YAML is not watched');
    case 'protobuf':
      return protobufWatchEvent(type, object);
    case 'cbor':
      return cborWatchEvent(type, object);
  }
}

/** An event without its frame, for a message that has an end of its own. */
export const unframed = ({ encoding }: MediaType, event: Buffer): Buffer =>
  encoding === 'protobuf' ? event.subarray(FRAME_HEAD_BYTES) : event;
