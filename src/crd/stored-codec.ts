// How a custom resource lies in a store, and how what lies there reads today: schemas and storage versions change.
import { isPlainObject } from '../lib/plain-object.js';
import type { KubeObject } from '../machinery/object.js';
import type { Schema } from '../apis/apiextensions/schema-walk.js';
import { DecodeError, decodeTree, parseJsonTree } from '../schema/json/decode.js';
import { encodeTree } from '../schema/json/encode.js';
import type { StructType } from '../schema/type.js';
import type { ObjectCodec } from '../storage/store.js';
import { dropUnreadableMetadata } from './coerce.js';
import { setDefaults } from './set-defaults.js';

export interface StoredForm {
  /** The version to store. */
  readonly apiVersion: string;
  /** Objects stored in other versions differ in nothing but their version. */
  readonly converts: boolean;
  readonly type: StructType;
  readonly schema: Schema | undefined;
}

export function storedCodec(form: StoredForm): ObjectCodec {
  const encode = (object: KubeObject): Buffer => Buffer.from(encodeTree(object));
  return {
    encodeJson: encode,
    // What is in the cache has been renewed already.
    decodeJson: (bytes) => parseJsonTree(bytes).value as KubeObject,
    // Custom resources have no protobuf form: they are kept as JSON everywhere.
    encodeStorage: (object) => Buffer.from(`${encodeTree(object)}\n`),
    decodeStorage: (bytes) => renewed(form, bytes),
    renew: (json) => encode(renewed(form, json)),
  };
}

function renewed({ apiVersion, converts, type, schema }: StoredForm, bytes: Buffer): KubeObject {
  const { value: tree } = parseJsonTree(bytes);
  if (!isPlainObject(tree)) throw new DecodeError('a stored custom resource is no object');
  if (tree['apiVersion'] !== apiVersion) {
    if (!converts) throw new DecodeError(`a conversion webhook is needed to read ${String(tree['apiVersion'])}`);
    tree['apiVersion'] = apiVersion;
  }
  const object = decoded(type, tree) as unknown as KubeObject;
  setDefaults(object, schema);
  // Objects from before there were generations begin at the first.
  object.metadata.generation ??= 1;
  return object;
}

function decoded(type: StructType, tree: Record<string, unknown>): Record<string, unknown> {
  try {
    return decodeTree(type, tree, { strict: false }).object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    dropUnreadableMetadata(tree);
    return decodeTree(type, tree, { strict: false }).object;
  }
}
