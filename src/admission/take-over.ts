import { setSizeHint } from '../machinery/size-hint.js';
import type { KubeObject } from '../machinery/object.js';
import { needsPruning, markNeedsPruning } from '../machinery/needs-pruning.js';
import type { AdmissionAttributes } from './plugin.js';

/** The object of a write, or the options of a connection, becomes what a plugin made of it, in place: it is known to others already. */
export function takeOver({ connectOptions, ...write }: AdmissionAttributes, made: KubeObject): void {
  const { object = connectOptions as KubeObject | undefined, view } = write;
  if (object === undefined) return;
  if (view !== undefined) {
    view.write(object, made);
    return;
  }
  for (const member of Object.keys(object)) delete (object as Record<string, unknown>)[member];
  Object.assign(object, made);
  if (needsPruning(made)) markNeedsPruning(object);
  setSizeHint(object);
}
