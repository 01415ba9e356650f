// kube-apiserver knows when fields were changed to fractions of a second, until a patch is applied to the object: what it
// makes of it has whole ones. So the first patch of a write has changed something, whatever it says.
import type { KubeObject } from '../../machinery/object.js';
import { typeOf } from '../../schema/catalogue.js';
import { isUnchanged } from '../stored-object.js';
import type { AdmissionAttributes } from '../plugin.js';

/** Whether this write has noted whose fields it changes. Custom resources have no types to keep such times in. */
export async function hasPreciseTimes({ kind, object, old }: AdmissionAttributes): Promise<boolean> {
  if (typeOf(kind.group, kind.version, kind.kind) === undefined) return false;
  const owners = object?.metadata.managedFields as readonly unknown[] | undefined;
  if (object === undefined || owners === undefined || owners.length === 0) return false;
  return old === undefined || !(await isUnchanged(owned(old), owned(object)));
}

const NOBODYS: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** What can be somebody's. */
function owned(object: Readonly<KubeObject>): KubeObject {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([name]) => !NOBODYS.has(name)));
  return { ...object, metadata };
}
