// Objects of a kind on their way between threads, in the version they are stored in.
import { bufferOf } from '../lib/buffer-of.js';
import { atOnce, inTurns, LARGE_BYTES, type Steps } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { typeOf } from '../schema/catalogue.js';
import { carryPieces } from '../schema/json/carry.js';
import { type ReadOptions, readPieces } from '../schema/json/decode-pieces.js';
import type { ResourceStore } from '../storage/store.js';
import type { KindDefinition } from './kind.js';

/** In turns with others. */
export const carryInTurns = (object: object): Promise<Uint8Array> => inTurns(carryPieces(object));

/** At once, in memory of its own that goes over without a copy. */
export const carry = (object: object): Uint8Array => new Uint8Array(atOnce(carryPieces(object)));

export const carried = (kind: KindDefinition, bytes: Uint8Array): KubeObject =>
  atOnce(readCarried(kind, bytes, { isOurs: true }));

/** The same; what is large is read in turns with others. */
export const carriedInTurns = async (kind: KindDefinition, bytes: Uint8Array): Promise<KubeObject> =>
  bytes.length > LARGE_BYTES
    ? inTurns(readCarried(kind, bytes, { isOurs: true, closesMaps: true }))
    : carried(kind, bytes);

/** A custom resource has no type that would tell what was sent empty, and keeps all of it. */
function* readCarried(definition: KindDefinition, bytes: Uint8Array, options: ReadOptions): Steps<KubeObject> {
  const { custom, storageGroup, group, storageVersion, kind } = definition;
  const type = custom ? undefined : typeOf(storageGroup ?? group, storageVersion, kind);
  const read = yield* readPieces(bytes, type, options);
  if (read === undefined) throw new Error(`a ${kind} was lost on its way`);
  return read.value as KubeObject;
}

/** What is stored, as whoever finds it in the cache has it. */
export const storedObject = ({ options }: Pick<ResourceStore, 'options'>, json: Uint8Array): KubeObject =>
  options.codec.decodeJson(bufferOf(json));
