// How a large stored custom resource reads today, computed on a worker.
import { offload, task, type WorkerPool, type WorkerRequirement, workersForBytes } from '../lib/async/worker-pool.js';
import { bufferOf } from '../lib/values/buffer-of.js';
import type { KindRef } from '../registry/kind-ref.js';
import { DecodeError } from '../schema/json/decode.js';
import type { ObjectCodec } from '../storage/store.js';

interface RenewWork {
  readonly kind: KindRef;
  readonly json: Uint8Array;
}

/** Nothing where it is as it was. */
interface Renewed {
  readonly json?: Uint8Array;
  readonly failed?: string;
}

export const RENEW = task<RenewWork, Renewed>('renew');

/** The codec, with what is large renewed there. */
export function renewingOnWorker(
  codec: ObjectCodec,
  workers: WorkerPool,
  requires: WorkerRequirement,
  kind: KindRef,
): ObjectCodec {
  const onWorker = async (json: Buffer): Promise<Buffer> => {
    const renewed = await workers.run(RENEW, { kind, json }, { requires });
    if (renewed.failed !== undefined) throw new DecodeError(renewed.failed);
    return renewed.json === undefined ? json : bufferOf(renewed.json);
  };
  const inline = (json: Buffer): Buffer => codec.renew?.(json) ?? json;
  return {
    ...codec,
    renewLarge: (json) =>
      workersForBytes(workers, json.length) &&
      offload(
        workers,
        () => onWorker(json),
        () => inline(json),
      ),
  };
}

/** The worker's side. */
export function runRenew(codec: ObjectCodec, { json: sent }: RenewWork): Renewed {
  const json = bufferOf(sent);
  try {
    const renewed = codec.renew?.(json) ?? json;
    return renewed.equals(json) ? {} : { json: new Uint8Array(renewed) };
  } catch (error) {
    if (error instanceof DecodeError) return { failed: error.message };
    throw error;
  }
}
