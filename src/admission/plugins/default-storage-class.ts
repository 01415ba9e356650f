import { BETA_STORAGE_CLASS } from '../../apis/core/shared/volume-rules.js';
import type { PersistentVolumeClaim } from '../../schema/generated/core.v1.js';
import { onlyFor } from '../forbid.js';
import { newestDefault } from '../newest-default.js';
import type { AdmissionPlugin } from '../plugin.js';

const CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' };
const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** A claim that names no class gets the default one. The empty name is a name: it means no class at all. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  handles: (operation) => operation === 'CREATE',
  admit: onlyFor('', 'persistentvolumeclaims', async (attributes) => {
    const { metadata, spec } = attributes.object as PersistentVolumeClaim;
    if (metadata.annotations?.[BETA_STORAGE_CLASS] !== undefined || spec.storageClassName !== undefined) return;
    const name = await newestDefault(attributes.context, CLASSES, DEFAULT_CLASS);
    if (name !== undefined) spec.storageClassName = name;
  }),
};
