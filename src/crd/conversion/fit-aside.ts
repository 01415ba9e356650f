// What a version knows of a large object that was converted into it, found out in another thread.
import { type Aside, type Knowledge, task } from '../../lib/aside.js';
import { bufferOf } from '../../lib/buffer-of.js';
import { atOnce, inTurns, type Steps } from '../../lib/turns.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { carryInTurns } from '../../registry/carried-object.js';
import type { KindRef } from '../../registry/prepare-aside.js';
import { DecodeError } from '../../schema/json/decode.js';
import { encodeTree } from '../../schema/json/encode.js';
import { type ReadOptions, readPieces } from '../../schema/json/decode-pieces.js';
import type { StructType } from '../../schema/type.js';
import { fitted } from '../stored-codec.js';

interface FitWork {
  readonly kind: KindRef;
  readonly version: string;
  readonly object: Uint8Array;
}

type FitAnswer = { readonly json: Uint8Array } | { readonly failed: string };

export interface Fitted {
  readonly object: KubeObject;
  /** As it is stored and served, where it was printed. */
  readonly json?: Buffer;
}

export const FIT = task<FitWork, FitAnswer>('fit');

/** Throws DecodeError, as `fitted` does. */
export async function fitAside(
  aside: Aside,
  needs: Knowledge,
  { group, plural, version }: { readonly group: string; readonly plural: string; readonly version: string },
  object: JsonObject,
): Promise<Fitted> {
  const kind = { group, plural, custom: { id: needs.id, version } };
  const work = { kind, version, object: await carryInTurns(object) };
  const made = await aside.do(FIT, work, { needs, gives: ['object'] });
  if ('failed' in made) throw new DecodeError(made.failed);
  const json = bufferOf(made.json);
  return { object: await inTurns(read(json, { closesMaps: true })), json };
}

/** The other side. */
export function fitHere({ type }: { readonly type: StructType }, { object }: FitWork): FitAnswer {
  try {
    return { json: new TextEncoder().encode(encodeTree(fitted(type, atOnce(read(object)) as unknown as JsonObject))) };
  } catch (error) {
    if (error instanceof DecodeError) return { failed: error.message };
    throw error;
  }
}

function* read(bytes: Uint8Array, options: ReadOptions = {}): Steps<KubeObject> {
  const found = yield* readPieces(bytes, undefined, { isOurs: true, ...options });
  if (found === undefined) throw new Error('a converted object was lost on its way');
  return found.value as KubeObject;
}
