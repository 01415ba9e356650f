// Objects of a kind on their way between threads.
import { atOnce, inTurns, LARGE_BYTES } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { carryPieces } from '../schema/json/carry.js';
import type { ObjectCodec, ResourceStore } from '../storage/store.js';

type Store = Pick<ResourceStore, 'options'>;

/** In turns with others. */
export const carryInTurns = (object: object): Promise<Uint8Array> => inTurns(carryPieces(object));

/** At once, in memory of its own that goes over without a copy. */
export const carry = (object: object): Uint8Array => new Uint8Array(atOnce(carryPieces(object)));

export function carried({ options }: Store, bytes: Uint8Array): KubeObject {
  const read = options.codec.decodePieces?.(bufferOf(bytes));
  return (read && atOnce(read)) ?? options.codec.decodeJson(bufferOf(bytes));
}

/** The same; what is large is read in turns with others. */
export async function carriedInTurns(store: Store, bytes: Uint8Array): Promise<KubeObject> {
  if (bytes.length <= LARGE_BYTES) return carried(store, bytes);
  const { codec }: { codec: ObjectCodec } = store.options;
  const read = codec.decodePieces?.(bufferOf(bytes));
  return (read && (await inTurns(read))) ?? codec.decodeJson(bufferOf(bytes));
}

/** What is stored, as whoever finds it in the cache has it. */
export const storedObject = ({ options }: Store, json: Uint8Array): KubeObject =>
  options.codec.decodeJson(bufferOf(json));

export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
