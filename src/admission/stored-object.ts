// An object as it was, to detect later whether it has changed; a large one is copied and compared cooperatively.
import { runCooperatively, LARGE_BYTES } from '../lib/scheduling/yield.js';
import { hasBytes } from '../machinery/size-hint.js';
import type { KubeObject } from '../machinery/object.js';
import { deepCopy, deepCopySteps } from '../schema/deep-copy.js';
import { equalTrees, equalTreesSteps } from '../schema/deep-equal.js';

export type KeptObject = Readonly<KubeObject> | undefined;

export async function keepObject(object: KeptObject): Promise<KeptObject> {
  if (object === undefined) return undefined;
  return hasBytes(object, LARGE_BYTES)
    ? runCooperatively(deepCopySteps(object, { closesMaps: true }))
    : deepCopy(object);
}

export async function isUnchanged(kept: KeptObject, object: KeptObject): Promise<boolean> {
  if (kept === undefined || !hasBytes(kept, LARGE_BYTES)) return equalTrees(kept, object);
  return runCooperatively(equalTreesSteps(kept, object));
}
