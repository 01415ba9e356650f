// What a webhook's patch makes of a large object, found out on a worker thread.
import type { PatchMade } from '../../admission/matching/seen-request.js';
import { patchedObject } from '../../admission/webhooks/apply-patch.js';
import { type WorkerPool, task } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import type { JsonObject } from '../../machinery/object.js';
import { decodeTransferred, encodeForTransferCooperatively } from '../../registry/transferred-object.js';
import { deserializeStatus, type SerializedStatus, serializeStatus } from '../../registry/serialized-status.js';
import { decodeChanged } from '../../rest/body/decode-changed.js';
import type { Endpoint } from '../../rest/contract/endpoint.js';
import { type EndpointWork, runForEndpoint } from '../../rest/contract/endpoint-task.js';
import { parseJsonTree } from '../../schema/json/decode.js';
import { encodeChanged, changedCooperatively, type ChangedObject } from './changed-object.js';

interface PatchWork extends EndpointWork {
  readonly object: Uint8Array;
  /** A JSON patch. */
  readonly patch: Uint8Array;
}

interface Patched {
  readonly refused?: SerializedStatus;
  readonly made?: ChangedObject & { readonly changed: boolean };
}

export const PATCH = task<PatchWork, Patched>('patch');

export async function patchOnWorker(
  workers: WorkerPool,
  endpoint: Endpoint,
  object: Readonly<object>,
  patch: Buffer,
): Promise<PatchMade> {
  const work = {
    object: await encodeForTransferCooperatively(object),
    patch,
  };
  const { refused, made } = await runForEndpoint(workers, PATCH, endpoint, { work, transfer: ['object'] });
  if (refused !== undefined) throw deserializeStatus(refused);
  if (made === undefined) throw new Error('a patch made no object');
  return { object: await changedCooperatively(endpoint.definition, made), changed: made.changed };
}

/** The worker's side. */
export function runPatch(endpoint: Endpoint, work: PatchWork): Patched {
  const before = decodeTransferred(endpoint.definition, work.object) as JsonObject;
  const operations = parseJsonTree(bufferOf(work.patch)).value as readonly unknown[];
  try {
    const { object, changed } = patchedObject(before, operations, (tree) =>
      decodeChanged(endpoint, endpoint.kind, tree),
    );
    return { made: { ...encodeChanged(object), changed } };
  } catch (error) {
    return { refused: serializeStatus(error) };
  }
}
