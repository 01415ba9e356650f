// Work on large bodies that needs nothing but their bytes: a worker does it, so that no other request waits. What
// goes over and comes back is plain data.
import { offload, task, type WorkerPool } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import { joinSteps } from '../../lib/scheduling/join-steps.js';
import { runCooperatively } from '../../lib/scheduling/yield.js';
import { typeByName } from '../../schema/catalogue.js';
import { decodeCbor, decodeCborTree } from '../../schema/cbor/decode.js';
import { decodeJson, DecodeError, parseJsonTree } from '../../schema/json/decode.js';
import { encodeJson, encodeTree } from '../../schema/json/encode.js';
import { decodeProtobuf } from '../../schema/protobuf/envelope.js';
import type { StructType } from '../../schema/type.js';
import { decodeYaml } from '../../schema/yaml/decode.js';
import { parseYaml } from '../../schema/yaml/parse.js';
import { encodeYaml } from '../../schema/yaml/encode.js';
import { encodeCborTree } from '../../schema/cbor/encode.js';
import { indentJson } from './indent-json.js';
import { type MediaType, MEDIA_TYPES_WITH_CBOR } from './media-types.js';
import { decodeSentJson, encodeObject, WireError, wireError } from './codec.js';

export interface Read {
  readonly what: 'read';
  /** The media type's encoding. */
  readonly encoding: MediaType['encoding'];
  /** The name of a built-in type; none for custom resources and patches. */
  readonly type?: string | undefined;
  readonly bytes: Uint8Array;
  readonly strict: boolean;
}

export interface ReadBytes {
  /** The tree as JSON, members as they came; absent where JSON was read, unless it names something twice. */
  readonly json?: Uint8Array;
  /** As far as they are known without a custom resource's type. */
  readonly strictErrors: readonly string[];
}

export interface Encode {
  readonly what: 'encode';
  readonly encoding: MediaType['encoding'];
  readonly pretty: boolean;
  readonly type?: string | undefined;
  readonly bytes: Uint8Array;
}

export type Conversion = Read | Encode;

/** Why a body cannot be read: as a patch or a custom resource's tree, and as an object. */
export interface Unreadable {
  readonly unreadable: string;
  readonly asObject: Pick<WireError, 'message' | 'kind' | 'apiVersion'>;
}

export type Converted = ReadBytes | { readonly encoded: Uint8Array } | Unreadable;

/** Where bytes are converted. */
export interface Converter {
  convert(conversion: Conversion): Promise<Converted>;
}

export function convertBytes(conversion: Conversion): Converted {
  const type = conversion.type === undefined ? undefined : typeByName(conversion.type);
  if (conversion.what === 'encode') return { encoded: encode(conversion, type) };
  const bytes = bufferOf(conversion.bytes);
  try {
    return read(conversion, bytes, type);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { message, kind, apiVersion } = wireError(mediaOf(conversion), bytes, error);
    return { unreadable: error.message, asObject: { message, kind, apiVersion } };
  }
}

function read({ encoding, strict }: Read, bytes: Buffer, type: StructType | undefined): ReadBytes {
  switch (encoding) {
    case 'json':
      if (type === undefined) return { strictErrors: parseJsonTree(bytes).duplicates };
      return readJson(decodeSentJson(type, bytes, strict), type);
    case 'yaml': {
      const parsed = parseYaml(bytes);
      const json = Buffer.from(encodeTree(parsed.value, 'asIs'));
      if (type !== undefined) return { json, strictErrors: decodeYaml(type, bytes, strict, parsed).strictErrors };
      const { strictError } = parsed;
      return { json, strictErrors: strict && strictError !== undefined ? [strictError] : [] };
    }
    case 'protobuf':
      if (type === undefined) throw new Error('only built-in types have a protobuf form');
      return { json: Buffer.from(encodeJson(type, decodeProtobuf(type, bytes))), strictErrors: [] };
    case 'cbor': {
      if (type === undefined) return { json: Buffer.from(encodeTree(decodeCborTree(bytes), 'asIs')), strictErrors: [] };
      const { object, strictErrors } = decodeCbor(type, bytes, { strict });
      return { json: Buffer.from(encodeJson(type, object)), strictErrors };
    }
  }
}

/** A reader of pieces does not know what comes of a member that is named twice. */
const readJson = ({ object, strictErrors, repeats }: ReturnType<typeof decodeSentJson>, type: StructType): ReadBytes =>
  repeats === true ? { json: Buffer.from(encodeJson(type, object)), strictErrors } : { strictErrors };

function encode(conversion: Encode, type: StructType | undefined): Buffer {
  const { bytes, encoding } = conversion;
  const json = bufferOf(bytes);
  if (encoding === 'json') return conversion.pretty ? Buffer.from(indentJson(json.toString())) : json;
  if (type !== undefined)
    return encodeObject(mediaOf(conversion), type, decodeJson(type, json, { strict: false }).object);
  const { value } = parseJsonTree(json);
  return encoding === 'cbor' ? encodeCborTree(value) : Buffer.from(encodeYaml(value));
}

function mediaOf({ encoding }: Conversion): MediaType {
  const media = MEDIA_TYPES_WITH_CBOR.find((one) => one.encoding === encoding);
  if (media === undefined) throw new Error(`no media type is written in ${encoding}`);
  return media;
}

export const CONVERT = task<Conversion, Converted>('convert');

export const workerConverter = (workers: WorkerPool): Converter => ({
  convert: async (conversion) =>
    offload(
      workers,
      () => convertOnWorker(workers, conversion),
      () => convertBytes(conversion),
    ),
});

/** A copy goes over: the list that it may be is copied cooperatively. */
async function convertOnWorker(workers: WorkerPool, conversion: Conversion): Promise<Converted> {
  const bytes = await runCooperatively(joinSteps([bufferOf(conversion.bytes)]));
  return workers.run(CONVERT, { ...conversion, bytes }, { transfer: ['bytes'] });
}

/** Runs inline. */
export const convertInline: Converter = { convert: async (conversion) => convertBytes(conversion) };
