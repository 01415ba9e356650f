// What KMS v2 stores, read and checked.
import { aggregateText, fieldErrorText, FieldPath } from '../../machinery/field-error.js';
import { isFullyQualifiedDomainName } from '../../machinery/validation/fields.js';
import { fieldHead } from '../../lib/protobuf/wire.js';
import type { EncryptedParts } from '../transformer.js';
import { ENCRYPTED_OBJECT } from './messages.js';

export type Annotations = ReadonlyMap<string, Buffer>;

/** How a data key is wrapped: what makes two values share it. */
export interface WrappedKey {
  readonly keyId: string;
  readonly source: Buffer;
  readonly annotations: Annotations;
  readonly sourceType: number;
}

export interface EncryptedObject extends WrappedKey {
  readonly data: Buffer;
}

/** The wrapped bytes are an AES-GCM key; only read, from values of long ago. */
export const PLAIN_KEY = 0;
/** The wrapped bytes are a seed, from which each value's key is derived. */
export const SEED = 1;

const MAX_ANNOTATION_BYTES = 32 * 1024;
const MAX_KEY_ID_BYTES = 1024;
const MAX_SOURCE_BYTES = 1024;

/** All but the data: the same for every value under one key. */
export const encodeWrappedKey = ({ annotations, ...key }: WrappedKey): Buffer =>
  ENCRYPTED_OBJECT.encode({ ...key, annotations: annotationList(annotations) });

/** The whole, in parts: the data comes in parts, and stays so. */
// hot: every write
export function encodedWith(wrapped: Buffer, data: EncryptedParts): EncryptedParts {
  let length = 0;
  for (const part of data) length += part.length;
  return [fieldHead(1, length), ...data, wrapped];
}

export function decodeEncryptedObject(bytes: Buffer): EncryptedObject {
  const decoded = ENCRYPTED_OBJECT.decode(bytes);
  const object = { ...decoded, annotations: annotationsIn(decoded) };
  checkEncryptedObject(object);
  return object;
}

type AnnotationList = readonly { readonly key: string; readonly value: Buffer }[];

/** A map is a list of keys with values on the wire; of equal keys the last counts. */
export const annotationsIn = ({ annotations }: { readonly annotations: AnnotationList }): Annotations =>
  new Map(annotations.map(({ key, value }) => [key, value]));

export const annotationList = (annotations: Annotations): AnnotationList =>
  Array.from(annotations, ([key, value]) => ({ key, value }));

/** Fails with what is wrong. */
function checkEncryptedObject({ data, ...key }: EncryptedObject): void {
  if (key.sourceType !== PLAIN_KEY && key.sourceType !== SEED) {
    throw new Error(`unknown encryptedDEKSourceType: ${key.sourceType}`);
  }
  if (data.length === 0) throw new Error('encrypted data is empty');
  checkWrappedKey(key);
}

export function checkWrappedKey({ source, keyId, annotations }: WrappedKey): void {
  const about = 'failed to validate encrypted DEK source: encrypted DEK source is';
  if (source.length === 0) throw new Error(`${about} empty`);
  if (source.length > MAX_SOURCE_BYTES) {
    throw new Error(`${about} ${source.length} bytes, which exceeds the max size of ${MAX_SOURCE_BYTES}`);
  }
  const wrong = keyIdMistake(keyId);
  if (wrong !== undefined) throw new Error(`failed to validate key id: ${wrong.text}`);
  const errors = annotationMistakes(annotations);
  if (errors.length > 0) throw new Error(`failed to validate annotations: ${aggregateText(errors)}`);
}

export function keyIdMistake(
  keyId: string,
): { readonly code: 'empty' | 'too_long'; readonly text: string } | undefined {
  const size = Buffer.byteLength(keyId);
  if (size === 0) return { code: 'empty', text: 'keyID is empty' };
  if (size <= MAX_KEY_ID_BYTES) return undefined;
  return { code: 'too_long', text: `keyID is ${size} bytes, which exceeds the max size of ${MAX_KEY_ID_BYTES}` };
}

function annotationMistakes(annotations: Annotations): string[] {
  if (annotations.size === 0) return [];
  const errors: string[] = [];
  let size = 0;
  for (const [key, value] of annotations) {
    const wrong = isFullyQualifiedDomainName(FieldPath.of('annotations'), key);
    if (wrong.length > 0) errors.push(aggregateText(wrong.map(fieldErrorText)));
    size += Buffer.byteLength(key) + value.length;
  }
  if (size > MAX_ANNOTATION_BYTES) {
    errors.push(`total size of annotations is ${size}, which exceeds the max size of ${MAX_ANNOTATION_BYTES}`);
  }
  return errors;
}

/** Equal for values that share a data key. */
export function wrappedKeyText({ sourceType, source, keyId, annotations }: WrappedKey): string {
  const parts = [`${sourceType}`, source.toString('latin1'), keyId];
  for (const [key, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    parts.push(key, value.toString('latin1'));
  }
  // With each part's length before it, so that no two lists of parts read alike.
  return parts.map((part) => `${part.length}:${part}`).join('');
}
