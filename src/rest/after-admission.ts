import type { KubeObject, ManagedFieldsEntry } from '../machinery/object.js';
import { ManagedFieldsError } from '../schema/apply/managed-fields-error.js';
import { decodeManagers } from '../schema/apply/managers.js';
import { dedupOwnerReferences } from './owner-references.js';

/** Puts right what plugins may have made of an object's metadata. `owned` is who owned what before they were asked. */
export function tidyAdmitted(
  object: KubeObject,
  owned: readonly ManagedFieldsEntry[] | undefined,
  warn: (text: string) => void,
): void {
  dedupOwnerReferences(object, warn, true);
  const { metadata } = object;
  if (metadata.managedFields === owned) return;
  try {
    decodeManagers(metadata.managedFields);
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    if (owned === undefined) delete metadata.managedFields;
    else metadata.managedFields = [...owned];
    warn(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error.message}`,
    );
  }
}
