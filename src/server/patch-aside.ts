// What a webhook's patch makes of a large object, found out in another thread.
import type { PatchMade } from '../admission/matching/seen-request.js';
import { patchedObject } from '../admission/webhooks/apply-patch.js';
import { type Aside, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import type { JsonObject } from '../machinery/object.js';
import { isUnfitted, noteUnfitted } from '../machinery/unfitted.js';
import { carried, carriedInTurns, carry, carryInTurns } from '../registry/carried-object.js';
import { type KindRef, neededBy, refOf } from '../registry/prepare-aside.js';
import { refusalOf, type Refused, refusedBy } from '../registry/refused-aside.js';
import { decodeChanged } from '../rest/decode-changed.js';
import type { Endpoint } from '../rest/endpoint.js';
import { parseJsonTree } from '../schema/json/decode.js';

interface PatchWork {
  readonly kind: KindRef;
  readonly version: string;
  readonly object: Uint8Array;
  /** A JSON patch. */
  readonly patch: Uint8Array;
}

interface Patched {
  readonly refused?: Refused;
  /** In the storage version. */
  readonly object?: Uint8Array;
  readonly changed?: boolean;
  readonly unfitted?: boolean;
}

export const PATCH = task<PatchWork, Patched>('patch');

export async function patchAside(
  aside: Aside,
  { definition, kind }: Endpoint,
  object: Readonly<object>,
  patch: Buffer,
): Promise<PatchMade> {
  const work = { kind: refOf(definition), version: kind.version, object: await carryInTurns(object), patch };
  const made = await aside.do(PATCH, work, { needs: neededBy(definition), gives: ['object'] });
  if (made.refused !== undefined) throw refusalOf(made.refused);
  if (made.object === undefined) throw new Error('a patch made no object');
  const patched = await carriedInTurns(definition, made.object);
  if (made.unfitted) noteUnfitted(patched);
  return { object: patched, changed: made.changed ?? false };
}

/** The other side. */
export function patchHere(endpoint: Endpoint, work: PatchWork): Patched {
  const before = carried(endpoint.definition, work.object) as JsonObject;
  const operations = parseJsonTree(bufferOf(work.patch)).value as readonly unknown[];
  try {
    const { object, changed } = patchedObject(before, operations, (tree) =>
      decodeChanged(endpoint, endpoint.kind, tree),
    );
    return { object: carry(object), changed, unfitted: isUnfitted(object) };
  } catch (error) {
    return { refused: refusedBy(error) };
  }
}
