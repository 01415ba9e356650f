import { BETA_STORAGE_CLASS } from '../../apis/core/shared/volume-rules.js';
import { compareQuantities } from '../../machinery/quantity.js';
import type { PersistentVolumeClaim } from '../../schema/generated/core.v1.js';
import type { StorageClass } from '../../schema/generated/storage.v1.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' };

/** A claim grows only when it is bound and its class can make volumes larger. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  handles: (operation) => operation === 'UPDATE',
  validate: onlyFor('', 'persistentvolumeclaims', async (attributes) => {
    const old = attributes.old as PersistentVolumeClaim;
    const claim = attributes.object as PersistentVolumeClaim;
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') {
      throw forbid(attributes, 'Only bound persistent volume claims can be expanded');
    }
    if (await growsByClass(attributes, claim, old)) return;
    throw forbid(
      attributes,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  }),
};

const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec.resources?.requests?.['storage'] ?? '0';

const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[BETA_STORAGE_CLASS] ?? spec.storageClassName ?? '';

async function growsByClass(
  { context }: AdmissionAttributes,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): Promise<boolean> {
  const name = classOf(claim);
  if (name === '' || name !== classOf(old)) return false;
  const found = (await context.lookup.get(CLASSES, '', name)) as StorageClass | undefined;
  return found?.allowVolumeExpansion === true;
}
