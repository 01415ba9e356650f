// Large bodies, decoded cooperatively: JSON in pieces, and a worker converts other forms to JSON first.
import { WORKER_MIN_BYTES } from '../../lib/async/worker-pool.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { runCooperatively, runSync, yieldToEventLoop } from '../../lib/scheduling/yield.js';
import { DecodeError, decodeTree, parseJsonTree } from '../../schema/json/decode.js';
import { type ReadPieces, readPieces } from '../../schema/json/decode-pieces.js';
import { decodeCborTree } from '../../schema/cbor/decode.js';
import type { StructType } from '../../schema/type.js';
import { unmatchableTests } from './test-literals.js';
import { parseYaml } from '../../schema/yaml/parse.js';
import type { Converter, ReadBytes, Unreadable } from '../wire/convert-bytes.js';
import type { MediaType } from '../wire/media-types.js';
import { decodeObject, type Decoded, WireError, wireError } from '../wire/codec.js';

export interface SentBody {
  readonly media: MediaType;
  readonly type: StructType;
  readonly bytes: Buffer;
  readonly strict: boolean;
}

/** As decodeObject(); a large body is decoded cooperatively. */
export const decodeSized = (converter: Converter, body: SentBody): MaybePromise<Decoded> =>
  workOn(body.bytes.length).isLarge
    ? decodeLarge(converter, body)
    : decodeObject(body.media, body.type, body.bytes, body.strict);

/** As decodeObject(). */
export async function decodeLarge(converter: Converter, { media, type, bytes, strict }: SentBody): Promise<Decoded> {
  const { encoding } = media;
  const custom = type.unstructured !== undefined;
  const elsewhere = encoding === 'json' || bytes.length > WORKER_MIN_BYTES;
  if (!elsewhere || (custom && encoding === 'protobuf')) return decodeObject(media, type, bytes, strict);
  const read = await readLarge(converter, { encoding, bytes, type: custom ? undefined : type, strict });
  if ('unreadable' in read) {
    const { message, kind, apiVersion } = read.asObject;
    throw new WireError(message, kind, apiVersion);
  }
  await yieldToEventLoop();
  const { value, strictErrors } = read;
  if (!custom) return { object: value as object, strictErrors };
  try {
    const { object, strictErrors: unknown } = decodeTree(type, value, { strict: strict && encoding !== 'cbor' });
    return { object, strictErrors: strict ? [...strictErrors, ...unknown] : [] };
  } catch (error) {
    throw error instanceof DecodeError ? wireError(media, bytes, error) : error;
  }
}

export interface ReadPatchOptions {
  /** Numbers of a JSON text with a fraction or an exponent are FloatLiterals. */
  readonly keepFloats?: boolean;
}

export interface PatchTree {
  readonly value: unknown;
  /** Of JSON. */
  readonly duplicates: string[];
  /** Of YAML. */
  readonly strictError?: string | undefined;
  /** Of a JSON patch: see unmatchableTests. */
  readonly unmatchable?: () => ReadonlySet<number>;
}

/** What a patch says, or fails with a DecodeError. */
export function readPatch(
  encoding: 'json' | 'yaml' | 'cbor',
  bytes: Buffer,
  { keepFloats = false }: ReadPatchOptions = {},
): PatchTree {
  switch (encoding) {
    case 'json': {
      const { value, duplicates } = parseJsonTree(bytes, { keepFloats });
      return { value, duplicates, unmatchable: () => runSync(unmatchableTests(bytes.toString())) };
    }
    case 'yaml':
      return { ...parseYaml(bytes), duplicates: [] };
    case 'cbor':
      return { value: decodeCborTree(bytes), duplicates: [] };
  }
}

/** Reads a large patch. */
export async function readLargePatch(
  converter: Converter,
  encoding: 'json' | 'yaml' | 'cbor',
  bytes: Buffer,
): Promise<PatchTree> {
  if (encoding !== 'json' && bytes.length <= WORKER_MIN_BYTES) return readPatch(encoding, bytes);
  const read = await readLarge(converter, { encoding, bytes, strict: true });
  if ('unreadable' in read) throw new DecodeError(read.unreadable);
  const { value, strictErrors } = read;
  if (encoding === 'json') {
    const duplicates = [...strictErrors];
    // What is no list is no JSON patch.
    if (!Array.isArray(value)) return { value, duplicates };
    const unmatchable = await runCooperatively(unmatchableTests(bytes.toString()));
    return { value, duplicates, unmatchable: () => unmatchable };
  }
  return { value, duplicates: [], strictError: strictErrors[0] };
}

interface ReadLarge {
  readonly value: unknown;
  readonly strictErrors: readonly string[];
}

interface LargeRead {
  readonly encoding: MediaType['encoding'];
  readonly bytes: Buffer;
  readonly type?: StructType | undefined;
  readonly strict: boolean;
}

async function readLarge(
  converter: Converter,
  { encoding, bytes, type, strict }: LargeRead,
): Promise<ReadLarge | Unreadable> {
  const convert = (): Promise<ReadBytes | Unreadable> => {
    const converting = converter.convert({ what: 'read', encoding, type: type?.name, bytes, strict });
    return converting as Promise<ReadBytes | Unreadable>;
  };
  const converted = encoding === 'json' ? undefined : await convert();
  if (converted !== undefined && 'unreadable' in converted) return converted;
  const read = await inPieces(converted?.json ?? bytes, type, converted === undefined);
  if (read?.clean === true) return { value: read.value, strictErrors: converted?.strictErrors ?? [] };
  // Finding out what is wrong with it, or which warnings it has, is slower.
  const explained = converted ?? (await convert());
  if ('unreadable' in explained) return explained;
  const again = converted === undefined && explained.json !== undefined;
  const found = again ? await inPieces(explained.json, type, false) : read;
  if (found === undefined) throw new Error('a body can be read at once, but not in pieces');
  return { value: found.value, strictErrors: explained.strictErrors };
}

const inPieces = (bytes: Uint8Array, type: StructType | undefined, strict: boolean): Promise<ReadPieces | undefined> =>
  runCooperatively(readPieces(bytes, type, { strict }));
