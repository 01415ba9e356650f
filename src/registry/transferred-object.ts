// Objects of a kind on their way between threads, in the version they are stored in.
import { bufferOf } from '../lib/values/buffer-of.js';
import { workOn } from '../lib/scheduling/sized-work.js';
import { runSync, runCooperatively, type StepGenerator } from '../lib/scheduling/yield.js';
import type { KubeObject } from '../machinery/object.js';
import { typeOf } from '../schema/catalogue.js';
import { transferPieces } from '../schema/json/transfer.js';
import { type ReadOptions, readPieces } from '../schema/json/decode-pieces.js';
import type { ResourceStore } from '../storage/store.js';
import type { KindDefinition } from './kind.js';

/** Cooperatively. */
export const encodeForTransferCooperatively = (object: object): Promise<Uint8Array> =>
  runCooperatively(transferPieces(object));

/** At once, in memory of its own that goes over without a copy. */
export const encodeForTransfer = (object: object): Uint8Array => new Uint8Array(runSync(transferPieces(object)));

export const decodeTransferred = (kind: KindDefinition, bytes: Uint8Array): KubeObject =>
  runSync(readTransferred(kind, bytes, { isOurs: true }));

/** Decodes a transferred object; a large one cooperatively. */
export async function decodeTransferredCooperatively(kind: KindDefinition, bytes: Uint8Array): Promise<KubeObject> {
  const work = workOn(bytes.length);
  return work.run(readTransferred(kind, bytes, { isOurs: true, closesMaps: work.isLarge }));
}

/** A custom resource has no type that shows what was sent empty, and keeps all of it. */
function* readTransferred(
  definition: KindDefinition,
  bytes: Uint8Array,
  options: ReadOptions,
): StepGenerator<KubeObject> {
  const { custom, storage, group, storageVersion, kind } = definition;
  const type = custom ? undefined : typeOf(storage?.group ?? group, storageVersion, kind);
  const read = yield* readPieces(bytes, type, options);
  if (read === undefined) throw new Error(`a ${kind} was lost on its way`);
  return read.value as KubeObject;
}

/** What is stored, as whoever finds it in the cache has it. */
export const storedObject = ({ options }: Pick<ResourceStore, 'options'>, json: Uint8Array): KubeObject =>
  options.codec.decodeJson(bufferOf(json));
