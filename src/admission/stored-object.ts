// An object as it was, to detect later whether it has changed; a large one is copied and compared cooperatively.
import { workOnTree } from '../machinery/size-hint.js';
import type { KubeObject } from '../machinery/object.js';
import { copyOf } from '../schema/deep-copy.js';
import { equalTrees, equalTreesSteps } from '../schema/deep-equal.js';

export type KeptObject = Readonly<KubeObject> | undefined;

export const keepObject = async (object: KeptObject): Promise<KeptObject> =>
  object && copyOf(object, workOnTree(object));

export async function isUnchanged(kept: KeptObject, object: KeptObject): Promise<boolean> {
  const work = kept && workOnTree(kept);
  return work?.isLarge === true ? work.run(equalTreesSteps(kept, object)) : equalTrees(kept, object);
}
