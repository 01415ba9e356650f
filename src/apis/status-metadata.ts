// What a write of the status may change of the metadata, in kinds of several groups.
import type { ObjectMeta } from '../machinery/object.js';

/** What a status endpoint of the newer kind may not touch: everything of the metadata but the managed fields. */
export function keepMetaForStatus(metadata: ObjectMeta, old: Readonly<ObjectMeta>): void {
  for (const member of [
    'deletionTimestamp',
    'generation',
    'selfLink',
    'labels',
    'annotations',
    'finalizers',
    'ownerReferences',
  ] as const) {
    if (old[member] === undefined) delete metadata[member];
    else Object.assign(metadata, { [member]: old[member] });
  }
}
