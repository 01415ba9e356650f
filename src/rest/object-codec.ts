import type { KubeObject } from '../machinery/object.js';
import { decodeJson } from '../schema/json/decode.js';
import { encodeStored } from '../schema/json/encode.js';
import type { StructType } from '../schema/type.js';
import type { ObjectCodec } from '../storage/store.js';
import { JSON_TYPE, PROTOBUF_TYPE } from './media-types.js';
import { decodeStored, encodeObject } from './wire.js';

/** How objects of a type lie in a store. */
export function objectCodec(type: StructType): ObjectCodec {
  const asObject = (value: object): KubeObject => value as KubeObject;
  return {
    encodeJson: (object) => Buffer.from(encodeStored(type, object)),
    decodeJson: (bytes) => asObject(decodeJson(type, bytes, { strict: false }).object),
    // Custom resources have no protobuf form: they are kept as JSON everywhere.
    encodeStorage: (object) => encodeObject(type.unstructured === undefined ? PROTOBUF_TYPE : JSON_TYPE, type, object),
    decodeStorage: (bytes) => asObject(decodeStored(type, bytes)),
  };
}
