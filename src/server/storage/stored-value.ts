// A value as it lies in a store, read without a server: what object it is, and the same object as another store keeps it.
import { fromStoredForm, toStoredForm } from '../../apis/apiextensions/stored-form.js';
import { isEncrypted } from '../../encryption/transformer.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { type KubeObject, parseApiVersion } from '../../machinery/object.js';
import type { KindStorage } from '../../registry/kind.js';
import { decodeStored, kindOf } from '../../rest/wire/codec.js';
import { CBOR_TYPE, JSON_TYPE, mediaTypeNamed, type MediaType } from '../../rest/wire/media-types.js';
import { objectCodec } from '../../rest/wire/object-codec.js';
import { typeOf } from '../../schema/catalogue.js';
import { decodeStoredCbor } from '../../schema/cbor/decode.js';
import { isCbor } from '../../schema/cbor/encode.js';
import type { CustomResourceDefinition } from '../../schema/generated/apiextensions.v1.js';
import { DecodeError, parseJsonTree } from '../../schema/json/decode.js';
import { encodeTree } from '../../schema/json/encode.js';
import { isProtobuf } from '../../schema/protobuf/envelope.js';
import type { StructType } from '../../schema/type.js';
import { storedForm } from './stored-form.js';

const OPENING_BRACE = 0x7b;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

export interface StoredValue {
  readonly group: string;
  /** Absent of a custom resource. */
  readonly type: StructType | undefined;
  readonly object: KubeObject;
}

/** Undefined where it is encrypted. Throws a DecodeError for what is no object. */
export function readStoredValue(value: Buffer): StoredValue | undefined {
  if (isEncrypted(value)) return undefined;
  const media = mediaTypeOf(value);
  const { apiVersion, kind } = kindOf(media, value);
  if (apiVersion === '' || kind === '') throw new DecodeError('it does not say what kind of object it is');
  const { group, version } = parseApiVersion(apiVersion);
  // kube-apiserver keeps CRDs in etcd in a version that is served no more.
  const isDefinition = group === DEFINITIONS.group && kind === DEFINITIONS.kind;
  const type = typeOf(group, isDefinition ? DEFINITIONS.version : version, kind);
  if (type !== undefined && isDefinition) return { group, type, object: codecOf(group, type).decodeStorage(value) };
  if (type !== undefined && media !== CBOR_TYPE)
    return { group, type, object: decodeStored(type, value) as KubeObject };
  if (media.encoding === 'protobuf') throw new DecodeError(`no kind ${kind} of ${apiVersion} is known`);
  const object = media === CBOR_TYPE ? decodeStoredCbor(value) : parseJsonTree(value).value;
  if (!isPlainObject(object)) throw new DecodeError('it is no object');
  return { group, type: undefined, object: object as unknown as KubeObject };
}

function mediaTypeOf(value: Buffer): MediaType {
  if (isProtobuf(value)) return mediaTypeNamed(PROTOBUF);
  if (isCbor(value)) return CBOR_TYPE;
  return value[0] === OPENING_BRACE ? JSON_TYPE : mediaTypeNamed('application/yaml');
}

/**
 * As the embedded store keeps the object of a value. What is encrypted stays as it is: a server reads whatever form it finds
 * when it has decrypted a value that it has not written.
 */
export function embeddedForm(value: Buffer): Buffer {
  const stored = readStoredValue(value);
  if (stored === undefined) return value;
  const { group, type, object } = stored;
  return type === undefined ? Buffer.from(encodeTree(object)) : codecOf(group, type).encodeJson(object);
}

/** As kube-apiserver keeps it in etcd, by its default flags. What is encrypted stays as it is. */
export function etcdForm(value: Buffer): Buffer {
  const stored = readStoredValue(value);
  if (stored === undefined) return value;
  const { group, type, object } = stored;
  if (type === undefined) return Buffer.from(`${encodeTree(object)}\n`);
  const options = { mediaType: PROTOBUF, cbor: false };
  const form = storedForm(false, { resource: { group, resource: '' } }, options);
  return codecOf(group, type).encodeStorage(object, form.kind === 'storage' ? form.mediaType : JSON_TYPE.name);
}

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };

/** Of the kinds of that group there are CRDs alone in a store. */
const codecOf = (group: string, type: StructType): ReturnType<typeof objectCodec> =>
  objectCodec(type, group === DEFINITIONS.group ? DEFINITION_SHAPE : undefined);

const DEFINITION_SHAPE: KindStorage['shape'] = {
  to: (object) => toStoredForm(object as unknown as CustomResourceDefinition),
  from: fromStoredForm,
};
