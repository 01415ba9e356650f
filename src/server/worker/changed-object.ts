// An object that others than its writer changed, on its way back from another thread.
import type { KubeObject } from '../../machinery/object.js';
import { needsPruning, markNeedsPruning } from '../../machinery/needs-pruning.js';
import { decodeTransferredCooperatively, encodeForTransfer } from '../../registry/transferred-object.js';
import type { KindDefinition } from '../../registry/kind.js';

export interface ChangedObject {
  /** In the storage version. */
  readonly object: Uint8Array;
  readonly unpruned: boolean;
}

export const encodeChanged = (object: KubeObject): ChangedObject => ({
  object: encodeForTransfer(object),
  unpruned: needsPruning(object),
});

/** What is large is read cooperatively. */
export async function changedCooperatively(
  kind: KindDefinition,
  { object, unpruned }: ChangedObject,
): Promise<KubeObject> {
  const changed = await decodeTransferredCooperatively(kind, object);
  if (unpruned) markNeedsPruning(changed);
  return changed;
}
