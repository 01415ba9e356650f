// An object that others than its writer changed, on its way back from another thread.
import type { KubeObject } from '../machinery/object.js';
import { isUnfitted, noteUnfitted } from '../machinery/unfitted.js';
import { carriedInTurns, carry } from '../registry/carried-object.js';
import type { KindDefinition } from '../registry/kind.js';

export interface ChangedObject {
  /** In the storage version. */
  readonly object: Uint8Array;
  readonly unfitted: boolean;
}

export const carryChanged = (object: KubeObject): ChangedObject => ({
  object: carry(object),
  unfitted: isUnfitted(object),
});

/** What is large is read in turns with others. */
export async function changedInTurns(kind: KindDefinition, { object, unfitted }: ChangedObject): Promise<KubeObject> {
  const changed = await carriedInTurns(kind, object);
  if (unfitted) noteUnfitted(changed);
  return changed;
}
