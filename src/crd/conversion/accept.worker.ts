// A long answer of a conversion webhook, read on a worker: what comes back is what is used of it.
import { type WorkerPool, type WorkerRequirement, task } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import { runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { encodeForTransfer, encodeForTransferCooperatively } from '../../registry/transferred-object.js';
import type { KindRef } from '../../registry/kind-ref.js';
import { DecodeError, parseJsonTree } from '../../schema/json/decode.js';
import { readPieces } from '../../schema/json/decode-pieces.js';
import { encodeTree } from '../../schema/json/encode.js';
import type { ReviewAnswer } from '../../schema/json/sent-review.js';
import type { StructType } from '../../schema/type.js';
import { StorageError } from '../../storage/store.js';
import { prunedTo } from '../stored-codec.js';
import { acceptConverted, type ConversionRequest, ConversionFailure, type Original } from './accept-converted.js';
import type { Converted } from './converted.js';

/** Where long answers are looked through. */
export interface Elsewhere {
  readonly workers: WorkerPool;
  readonly requires: WorkerRequirement;
  /** The version that objects are brought into the form of; absent where they are wanted as they came. */
  readonly kind?: KindRef;
}

interface AcceptWork extends Omit<ConversionRequest, 'originals'>, Omit<ReviewAnswer, 'body'> {
  readonly body: Uint8Array;
  readonly originals: Uint8Array;
  readonly kind?: KindRef;
}

interface Accepted {
  readonly failure?: Pick<ConversionFailure, 'type' | 'message' | 'bare'>;
  readonly objects?: readonly AcceptedObject[];
}

type AcceptedObject = { readonly json: Uint8Array } | { readonly failed: string };

export const ACCEPT_CONVERTED = task<AcceptWork, Accepted>('accept converted');

/** As acceptConverted(), and the objects in the form of their version. */
export async function acceptOnWorker(
  { workers, requires, kind }: Elsewhere,
  { originals, ...request }: ConversionRequest,
  answer: ReviewAnswer,
): Promise<Converted[]> {
  const work: AcceptWork = {
    ...request,
    ...answer,
    originals: await encodeForTransferCooperatively(originals),
    ...(kind && { kind }),
  };
  const { failure, objects = [] } = await workers.run(ACCEPT_CONVERTED, work, {
    requires: kind && requires,
    transfer: ['originals'],
  });
  if (failure !== undefined) throw new ConversionFailure(failure.type, failure.message, failure.bare);
  return objects.map((made) => {
    if ('failed' in made) {
      return {
        object: () => {
          throw new StorageError('conversion', made.failed);
        },
      };
    }
    const json = bufferOf(made.json);
    return { json, object: () => runCooperatively(read(json)) };
  });
}

function* read(json: Buffer): StepGenerator<KubeObject> {
  const found = yield* readPieces(json, undefined, { isOurs: true, closesMaps: true });
  if (found === undefined) throw new Error('a converted object was lost on its way');
  return found.value as KubeObject;
}

/** The worker's side. `type`: of the version that is wanted, if one is. */
export function runAccept(type: StructType | undefined, work: AcceptWork): Accepted {
  const { status, contentType, body, originals: sent, ...request } = work;
  const originals = parseJsonTree(sent).value as readonly Original[];
  try {
    const objects = acceptConverted({ ...request, originals }, { status, contentType, body: bufferOf(body) });
    return { objects: objects.map((object) => encoded(type, object)) };
  } catch (error) {
    if (!(error instanceof ConversionFailure)) throw error;
    return { failure: { type: error.type, message: error.message, bare: error.bare } };
  }
}

function encoded(type: StructType | undefined, object: JsonObject): AcceptedObject {
  if (type === undefined) return { json: encodeForTransfer(object) };
  try {
    return { json: new TextEncoder().encode(encodeTree(prunedTo(type, object))) };
  } catch (error) {
    if (error instanceof DecodeError) return { failed: error.message };
    throw error;
  }
}
