// How a custom resource lies in a store, and how what lies there reads today: schemas and storage versions change.
import { isPlainObject } from '../lib/values/plain-object.js';
import type { KubeObject } from '../machinery/object.js';
import type { Schema } from '../apis/apiextensions/schema-walk.js';
import { decodeStoredCbor } from '../schema/cbor/decode.js';
import { encodeCborTree, isCbor } from '../schema/cbor/encode.js';
import { DecodeError, decodeTree, parseJsonTree } from '../schema/json/decode.js';
import { readPieces } from '../schema/json/decode-pieces.js';
import { treePieces } from '../schema/json/encode-pieces.js';
import { encodeTree } from '../schema/json/encode.js';
import type { StructType } from '../schema/type.js';
import type { ObjectCodec } from '../storage/store.js';
import { dropUnreadableMetadata } from './coerce.js';
import { setDefaults } from './set-defaults.js';

const CBOR = 'application/cbor';

export interface VersionForm {
  readonly type: StructType;
  /** Called for its defaults when an object is read. */
  readonly schema: () => Schema | undefined;
}

export interface StoredForm extends VersionForm {
  /** The version to store. Objects stored in others differ in nothing but that. */
  readonly apiVersion: string;
}

export const storedCodec = (form: StoredForm): ObjectCodec =>
  codecOf((tree) => {
    tree['apiVersion'] = form.apiVersion;
    return form;
  });

/** For objects that stay in the version they were written in, by the forms of all versions. */
export const writtenCodec = (forms: ReadonlyMap<string, VersionForm>): ObjectCodec =>
  codecOf((tree) => forms.get(String(tree['apiVersion'])));

type FormOf = (tree: Record<string, unknown>) => VersionForm | undefined;

function codecOf(formOf: FormOf): ObjectCodec {
  const encode = (object: KubeObject): Buffer => Buffer.from(encodeTree(object));
  return {
    encodeJson: encode,
    encodePieces: treePieces,
    // What is in the cache has been renewed already.
    decodeJson: (bytes) => parseJsonTree(bytes).value as KubeObject,
    *decodePieces(bytes) {
      const read = yield* readPieces(bytes, undefined, { isOurs: true, closesMaps: true });
      return read?.value as KubeObject | undefined;
    },
    // Custom resources have no protobuf form.
    encodeStorage: (object, mediaType) =>
      mediaType === CBOR ? encodeCborTree(object) : Buffer.from(`${encodeTree(object)}\n`),
    // What was written as CBOR is read as such also when it is not written any more.
    decodeStorage: (bytes) => renewed(formOf, isCbor(bytes) ? decodeStoredCbor(bytes) : parseJsonTree(bytes).value),
    renew: (json) => encode(renewed(formOf, parseJsonTree(json).value)),
  };
}

function renewed(formOf: FormOf, tree: unknown): KubeObject {
  if (!isPlainObject(tree)) throw new DecodeError('a stored custom resource is no object');
  const form = formOf(tree);
  if (form === undefined) {
    throw new DecodeError(`request to convert CR from an invalid group/version: ${String(tree['apiVersion'])}`);
  }
  const object = prunedTo(form.type, tree);
  setDefaults(object, form.schema());
  return object;
}

/** What the type has of an object, in place. */
export function prunedTo(type: StructType, tree: Record<string, unknown>): KubeObject {
  const object = decoded(type, tree) as unknown as KubeObject;
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
