import type { KubeObject } from '../machinery/object.js';
import { decodeJson } from '../schema/json/decode.js';
import { encodeStored } from '../schema/json/encode.js';
import type { StructType } from '../schema/type.js';
import type { ObjectCodec } from '../storage/store.js';
import { JSON_TYPE, MEDIA_TYPES } from './media-types.js';
import { decodeStored, encodeObject } from './wire.js';

const LINE_BREAK = Buffer.from('\n');

/** How objects of a type lie in a store. */
export function objectCodec(type: StructType): ObjectCodec {
  const asObject = (value: object): KubeObject => value as KubeObject;
  return {
    encodeJson: (object) => Buffer.from(encodeStored(type, object)),
    decodeJson: (bytes) => asObject(decodeJson(type, bytes, { strict: false }).object),
    encodeStorage(object, mediaType) {
      const media = MEDIA_TYPES.find(({ name }) => name === mediaType) ?? JSON_TYPE;
      const bytes = encodeObject(media, type, object);
      // The reference ends what it stores as JSON with a line break.
      return media === JSON_TYPE ? Buffer.concat([bytes, LINE_BREAK]) : bytes;
    },
    decodeStorage: (bytes) => asObject(decodeStored(type, bytes)),
  };
}
