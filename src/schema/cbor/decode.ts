// `application/cbor` into objects, within kube-apiserver's limits.
import { bufferOf } from '../../lib/values/buffer-of.js';
import { apiVersionFault } from '../../machinery/object.js';
import { metaType } from '../catalogue.js';
import { type Decoded, type DecodeOptions, decodeTree } from '../json/decode.js';
import { plain } from '../json/scalar.js';
import type { SentKind } from '../json/sent-kind.js';
import { DecodeError } from '../json/walk.js';
import type { StructType } from '../type.js';
import { Cursor } from './cursor.js';
import { diagnose } from './diagnose.js';
import { Fault } from './fault.js';
import { readObject, TypeReader } from './read-type.js';
import { checkWellFormed } from './well-formed.js';

/** Of lists, and of pairs in maps. */
const MAX_ELEMENTS = 1024;

export function decodeCbor(type: StructType, bytes: Uint8Array, { strict }: DecodeOptions): Decoded {
  const buffer = checked(bytes, MAX_ELEMENTS);
  const read = readType(type, buffer, strict);
  const isUnknown = read instanceof Fault && read.isUnknownField;
  const { object } = decodeTree(type, withoutFault(isUnknown ? readType(type, buffer, false) : read), {
    strict: false,
  });
  // A version that is none counts as absent.
  const { apiVersion } = object;
  if (typeof apiVersion === 'string' && apiVersionFault(apiVersion) !== undefined) delete object['apiVersion'];
  return { object, strictErrors: isUnknown ? [read.text] : [] };
}

function readType(type: StructType, buffer: Buffer, strict: boolean): unknown {
  const reader = new TypeReader(new Cursor(buffer), strict);
  const tree = reader.value(type);
  return tree instanceof Fault ? tree : (reader.rawFault ?? tree);
}

/** Without a type: custom resources and patches. */
export const decodeCborTree = (bytes: Uint8Array): unknown => treeOf(checked(bytes, MAX_ELEMENTS));

/**
 * A custom resource, which says what it is. Throws a DecodeError, and MissingKind for what does not say it.
 */
export function decodeCborCustom(bytes: Uint8Array): Record<string, unknown> {
  const tree = (decodeCborTree(bytes) ?? {}) as Record<string, unknown>;
  const { kind, apiVersion } = tree;
  const isVersion = typeof apiVersion === 'string' && apiVersion !== '';
  const shown = (): string => diagnose(bufferOf(bytes));
  if (typeof kind !== 'string' || kind === '' || (isVersion && apiVersionFault(apiVersion) !== undefined)) {
    throw new MissingKind(`Object 'Kind' is missing in '${shown()}'`);
  }
  if (!isVersion) throw new MissingKind(`Object 'apiVersion' is missing in '${shown()}'`, kind);
  return tree;
}

export class MissingKind extends DecodeError {
  constructor(
    message: string,
    readonly kind?: string,
  ) {
    super(message);
  }
}

/** Of what a store holds: it was a request once, and its lists are as long as that allowed in any form. */
export const decodeStoredCbor = (bytes: Uint8Array): unknown => treeOf(checked(bytes, Infinity));

const treeOf = (buffer: Buffer): unknown => plain(withoutFault(readObject(new Cursor(buffer))));

/** What a document says it is. Throws a DecodeError. */
export function sentCborKind(bytes: Uint8Array): SentKind {
  const { kind = '', apiVersion = '' } = withoutFault(
    readType(metaType('TypeMeta'), checked(bytes, MAX_ELEMENTS), false),
  ) as Partial<SentKind>;
  return { kind, apiVersion: apiVersionFault(apiVersion) === undefined ? apiVersion : '' };
}

function checked(bytes: Uint8Array, maxElements: number): Buffer {
  const buffer = bufferOf(bytes);
  checkWellFormed(buffer, maxElements);
  return buffer;
}

function withoutFault(read: unknown): unknown {
  if (read instanceof Fault) throw new DecodeError(read.text);
  return read;
}
