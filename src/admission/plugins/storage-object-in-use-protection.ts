import type { GroupResource } from '../../machinery/status.js';
import { onlyWhere } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

/** Keeps storage that is used from being deleted under its users; a controller removes the finalizer. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (operation) => operation === 'CREATE',
  admit: onlyWhere(isStorage, (attributes) => {
    const finalizer = finalizerFor(attributes);
    if (finalizer === undefined || attributes.object === undefined) return;
    const { metadata } = attributes.object;
    const given = metadata.finalizers ?? [];
    if (!given.includes(finalizer)) metadata.finalizers = [...given, finalizer];
  }),
};

function isStorage({ group, resource }: GroupResource, subresource: string): boolean {
  if (subresource !== '') return false;
  if (group === 'storage.k8s.io') return resource === 'volumeattributesclasses';
  return group === '' && (resource === 'persistentvolumeclaims' || resource === 'persistentvolumes');
}

function finalizerFor({ resource, context }: AdmissionAttributes): string | undefined {
  if (resource.resource === 'persistentvolumeclaims') return 'kubernetes.io/pvc-protection';
  if (resource.resource === 'persistentvolumes') return 'kubernetes.io/pv-protection';
  return context.features.enabled('VolumeAttributesClass') ? 'kubernetes.io/vac-protection' : undefined;
}
