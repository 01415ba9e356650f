// What a policy's mutation makes of a large object, found out in another thread.
import { MutationError, mutatedObject } from '../admission/mutating-policy/mutated-object.js';
import type { Mutation } from '../cel/compiled-policy.js';
import { type Aside, task } from '../lib/aside.js';
import type { JsonObject, KubeObject } from '../machinery/object.js';
import { carried, carryInTurns } from '../registry/carried-object.js';
import { type KindRef, neededBy, refOf } from '../registry/prepare-aside.js';
import { refusalOf, type Refused, refusedBy } from '../registry/refused-aside.js';
import { decodeChanged } from '../rest/decode-changed.js';
import type { Endpoint } from '../rest/endpoint.js';
import { parseJsonTree } from '../schema/json/decode.js';
import { carryChanged, changedInTurns, type ChangedObject } from './changed-object.js';

interface MutateWork {
  readonly kind: KindRef;
  readonly version: string;
  readonly object: Uint8Array;
  readonly mutation: Uint8Array;
}

interface Mutated {
  readonly refused?: Refused;
  /** Why the mutation cannot be made. */
  readonly failed?: string;
  /** Absent where nothing is to be changed. */
  readonly changed?: ChangedObject;
}

export const MUTATE = task<MutateWork, Mutated>('mutate');

/** As mutatedObject(). */
export async function mutateAside(
  aside: Aside,
  { definition, kind }: Endpoint,
  object: Readonly<object>,
  mutation: Mutation,
): Promise<KubeObject | undefined> {
  const work = {
    kind: refOf(definition),
    version: kind.version,
    object: await carryInTurns(object),
    mutation: await carryInTurns(mutation),
  };
  const made = await aside.do(MUTATE, work, { needs: neededBy(definition), gives: ['object', 'mutation'] });
  if (made.refused !== undefined) throw refusalOf(made.refused);
  if (made.failed !== undefined) throw new MutationError(made.failed);
  return made.changed && changedInTurns(definition, made.changed);
}

/** The other side. */
export function mutateHere(endpoint: Endpoint, work: MutateWork): Mutated {
  const { kind, resource, type } = endpoint;
  const before = carried(endpoint.definition, work.object) as JsonObject;
  const mutation = parseJsonTree(work.mutation).value as Mutation;
  const served = {
    typeOf: () => type,
    toStored: (_resource: unknown, seen: typeof kind, tree: JsonObject, strict?: boolean) =>
      decodeChanged(endpoint, seen, tree, strict),
  };
  try {
    const object = mutatedObject(served, { kind, resource }, before, mutation);
    return object === undefined ? {} : { changed: carryChanged(object) };
  } catch (error) {
    return error instanceof MutationError ? { failed: error.message } : { refused: refusedBy(error) };
  }
}
