// What a policy's mutation makes of a large object, found out on a worker thread.
import { MutationError, mutatedObject } from '../../admission/mutating-policy/mutated-object.js';
import type { Mutation } from '../../cel/compiled-policy.js';
import { type WorkerPool, task } from '../../lib/async/worker-pool.js';
import type { JsonObject, KubeObject } from '../../machinery/object.js';
import { decodeTransferred, encodeForTransferCooperatively } from '../../registry/transferred-object.js';
import { deserializeStatus, type SerializedStatus, serializeStatus } from '../../registry/serialized-status.js';
import { decodeChanged } from '../../rest/body/decode-changed.js';
import type { Endpoint } from '../../rest/contract/endpoint.js';
import { type EndpointWork, runForEndpoint } from '../../rest/contract/endpoint-task.js';
import { parseJsonTree } from '../../schema/json/decode.js';
import { encodeChanged, changedCooperatively, type ChangedObject } from './changed-object.js';

interface MutateWork extends EndpointWork {
  readonly object: Uint8Array;
  readonly mutation: Uint8Array;
}

interface Mutated {
  readonly refused?: SerializedStatus;
  /** Why the mutation cannot be made. */
  readonly failed?: string;
  /** Absent where nothing is to be changed. */
  readonly changed?: ChangedObject;
}

export const MUTATE = task<MutateWork, Mutated>('mutate');

/** As mutatedObject(). */
export async function mutateOnWorker(
  workers: WorkerPool,
  endpoint: Endpoint,
  object: Readonly<object>,
  mutation: Mutation,
): Promise<KubeObject | undefined> {
  const work = {
    object: await encodeForTransferCooperatively(object),
    mutation: await encodeForTransferCooperatively(mutation),
  };
  const made = await runForEndpoint(workers, MUTATE, endpoint, { work, transfer: ['object', 'mutation'] });
  if (made.refused !== undefined) throw deserializeStatus(made.refused);
  if (made.failed !== undefined) throw new MutationError(made.failed);
  return made.changed && changedCooperatively(endpoint.definition, made.changed);
}

/** The worker's side. */
export function runMutate(endpoint: Endpoint, work: MutateWork): Mutated {
  const { kind, resource, type } = endpoint;
  const before = decodeTransferred(endpoint.definition, work.object) as JsonObject;
  const mutation = parseJsonTree(work.mutation).value as Mutation;
  const served = {
    typeOf: () => type,
    toStored: (_resource: unknown, seen: typeof kind, tree: JsonObject, strict?: boolean) =>
      decodeChanged(endpoint, seen, tree, strict),
  };
  try {
    const object = mutatedObject(served, { kind, resource }, before, mutation);
    return object === undefined ? {} : { changed: encodeChanged(object) };
  } catch (error) {
    return error instanceof MutationError ? { failed: error.message } : { refused: serializeStatus(error) };
  }
}
