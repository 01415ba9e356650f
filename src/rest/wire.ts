// Objects to bytes and back, by media type.
import { decodeJson, DecodeError } from '../schema/json/decode.js';
import { encodeJson } from '../schema/json/encode.js';
import type { StructType } from '../schema/type.js';
import type { MediaType } from './media-types.js';

export interface Decoded {
  readonly object: object;
  /** What strict decoding found, in the reference's words and order. */
  readonly strictErrors: readonly string[];
}

/** A body that cannot be read as an object, with as much of its kind as could be told. */
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
    default:
      throw new Error(`no encoder for ${media.name}`);
  }
}

export function decodeObject(media: MediaType, type: StructType, bytes: Buffer, strict: boolean): Decoded {
  try {
    switch (media.encoding) {
      case 'json':
        return decodeJson(type, bytes, { strict });
      default:
        throw new Error(`no decoder for ${media.name}`);
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new WireError(error.message, ...kindOf(bytes));
  }
}

function kindOf(bytes: Buffer): [string?, string?] {
  try {
    const { kind, apiVersion } = JSON.parse(bytes.toString()) as { kind?: unknown; apiVersion?: unknown };
    return typeof kind === 'string' && typeof apiVersion === 'string' ? [kind, apiVersion] : [];
  } catch {
    return [];
  }
}

export function decodeStored(type: StructType, bytes: Buffer): object {
  return decodeJson(type, bytes, { strict: false }).object;
}

/** One event of a watch, framed for its media type. */
export function frameEvent(media: MediaType, type: string, object: Buffer): Buffer {
  switch (media.encoding) {
    case 'json':
      return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), object, Buffer.from('}\n')]);
    default:
      throw new Error(`no frames for ${media.name}`);
  }
}
