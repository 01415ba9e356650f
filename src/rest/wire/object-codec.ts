import type { JsonObject, KubeObject } from '../../machinery/object.js';
import type { KindStorage } from '../../registry/kind.js';
import { decodeTree, parseJsonTree } from '../../schema/json/decode.js';
import { readPieces } from '../../schema/json/decode-pieces.js';
import { decodeStoredJson } from '../../schema/json/decode-stored.js';
import { encodeStored, encodeTree } from '../../schema/json/encode.js';
import { isStoredAsOther } from '../../schema/stored-as-other.js';
import type { StructType } from '../../schema/type.js';
import type { ObjectCodec } from '../../storage/store.js';
import { JSON_TYPE, MEDIA_TYPES } from './media-types.js';
import { decodeStored, encodeObject, storedApiVersion } from './codec.js';

const LINE_BREAK = Buffer.from('\n');

/** Another version than the one objects are kept in. */
export interface StoredVersion {
  readonly type: StructType;
  /** With the defaults of its own version. Owns its argument. */
  toKept(object: KubeObject): KubeObject;
}

export interface StoredVersions {
  /** Undefined for the version that objects are kept in. Throws DecodeError for one that nobody knows. */
  other(apiVersion: string): StoredVersion | undefined;
  /** Fills in what kind an object is of where it does not say. Throws DecodeError for one of another kind. */
  ofKind(object: KubeObject): KubeObject;
}

/**
 * How objects of a type lie in a store. What others may have written, an older server or one that keeps less, is filled
 * up with its defaults when it is read; JSON that this very build stored is served as it lies.
 */
export function objectCodec(
  type: StructType,
  shape?: KindStorage['shape'],
  defaults?: (object: KubeObject) => void,
  versions?: StoredVersions,
): ObjectCodec {
  const asObject = (value: object): KubeObject => value as KubeObject;
  const withDefaults = (value: object): KubeObject => {
    const object = asObject(value);
    defaults?.(object);
    return object;
  };
  const codec: ObjectCodec = {
    encodeJson: (object) => Buffer.from(encodeStored(type, object)),
    decodeJson: (bytes) => asObject(decodeStoredJson(type, bytes)),
    isStoredAsOther: (object) => isStoredAsOther(type, object),
    *decodePieces(bytes) {
      const read = yield* readPieces(bytes, type, { isOurs: true, closesMaps: true });
      return read?.value as KubeObject | undefined;
    },
    encodeStorage(object, mediaType) {
      const media = MEDIA_TYPES.find(({ name }) => name === mediaType) ?? JSON_TYPE;
      const bytes = encodeObject(media, type, object);
      // kube-apiserver ends what it stores as JSON with a line break.
      return media === JSON_TYPE ? Buffer.concat([bytes, LINE_BREAK]) : bytes;
    },
    decodeStorage(bytes) {
      const apiVersion = storedApiVersion(bytes);
      const other = versions?.other(apiVersion);
      if (other !== undefined) return other.toKept(asObject(decodeStored(other.type, bytes)));
      const object = asObject(decodeStored(type, bytes));
      if (versions === undefined) return withDefaults(object);
      // Others than kube-apiserver may write it further down.
      const late = apiVersion === '' ? versions.other(object.apiVersion ?? '') : undefined;
      if (late !== undefined) return late.toKept(asObject(decodeStored(late.type, bytes)));
      return withDefaults(versions.ofKind(object));
    },
    renewOlder: (json) => Buffer.from(encodeStored(type, codec.decodeStorage(json))),
  };
  if (shape === undefined) return codec;
  // Kinds of another stored shape are kept as JSON, whatever the store keeps of others.
  const decodeStorage = (bytes: Buffer): KubeObject => {
    const tree = parseJsonTree(bytes).value as JsonObject;
    return withDefaults(decodeTree(type, shape.from(tree), { strict: false }).object);
  };
  return {
    ...codec,
    encodeStorage: (object) => Buffer.from(`${encodeTree(shape.to(object), 'asIs')}\n`),
    decodeStorage,
    renewOlder: (json) => Buffer.from(encodeStored(type, decodeStorage(json))),
  };
}
