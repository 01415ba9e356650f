import type { KubeObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { ManagedFieldsError } from '../../schema/apply/managed-fields-error.js';
import { decodeManagers } from '../../schema/apply/managers.js';
import { fieldsText } from '../../schema/lazy-fields.js';
import { dedupOwnerReferences } from '../body/owner-references.js';

/** Puts right what plugins may have made of an object's metadata. `owned`: the managed fields before admission. */
export function tidyAdmitted(
  object: KubeObject,
  owned: readonly ManagedFieldsEntry[] | undefined,
  warn: (text: string) => void,
): void {
  dedupOwnerReferences(object, warn, true);
  const { metadata } = object;
  if (metadata.managedFields === owned) return;
  try {
    decodeManagers(metadata.managedFields?.map((entry, at) => withoutKnown(entry, owned?.[at])));
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    if (owned === undefined) delete metadata.managedFields;
    else metadata.managedFields = [...owned];
    warn(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error.message}`,
    );
  }
}

/** Of a large set of fields that is as it was nothing has to be found out. */
function withoutKnown(entry: ManagedFieldsEntry, before: ManagedFieldsEntry | undefined): ManagedFieldsEntry {
  const text = entry.fieldsV1 && fieldsText(entry.fieldsV1);
  const isKnown = text !== undefined && before?.fieldsV1 !== undefined && text === fieldsText(before.fieldsV1);
  return isKnown ? { ...entry, fieldsV1: {} } : entry;
}
