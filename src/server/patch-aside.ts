// What a webhook's patch makes of a large object, found out in another thread.
import type { PatchMade } from '../admission/matching/seen-request.js';
import { patchedObject } from '../admission/webhooks/apply-patch.js';
import { type Aside, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import type { JsonObject } from '../machinery/object.js';
import { carried, carryInTurns } from '../registry/carried-object.js';
import { type KindRef, neededBy, refOf } from '../registry/prepare-aside.js';
import { refusalOf, type Refused, refusedBy } from '../registry/refused-aside.js';
import { decodeChanged } from '../rest/decode-changed.js';
import type { Endpoint } from '../rest/endpoint.js';
import { parseJsonTree } from '../schema/json/decode.js';
import { carryChanged, changedInTurns, type ChangedObject } from './changed-object.js';

interface PatchWork {
  readonly kind: KindRef;
  readonly version: string;
  readonly object: Uint8Array;
  /** A JSON patch. */
  readonly patch: Uint8Array;
}

interface Patched {
  readonly refused?: Refused;
  readonly made?: ChangedObject & { readonly changed: boolean };
}

export const PATCH = task<PatchWork, Patched>('patch');

export async function patchAside(
  aside: Aside,
  { definition, kind }: Endpoint,
  object: Readonly<object>,
  patch: Buffer,
): Promise<PatchMade> {
  const work = { kind: refOf(definition), version: kind.version, object: await carryInTurns(object), patch };
  const { refused, made } = await aside.do(PATCH, work, { needs: neededBy(definition), gives: ['object'] });
  if (refused !== undefined) throw refusalOf(refused);
  if (made === undefined) throw new Error('a patch made no object');
  return { object: await changedInTurns(definition, made), changed: made.changed };
}

/** The other side. */
export function patchHere(endpoint: Endpoint, work: PatchWork): Patched {
  const before = carried(endpoint.definition, work.object) as JsonObject;
  const operations = parseJsonTree(bufferOf(work.patch)).value as readonly unknown[];
  try {
    const { object, changed } = patchedObject(before, operations, (tree) =>
      decodeChanged(endpoint, endpoint.kind, tree),
    );
    return { made: { ...carryChanged(object), changed } };
  } catch (error) {
    return { refused: refusedBy(error) };
  }
}
