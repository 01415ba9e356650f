import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

/** Keeps storage that is used from being deleted under its users; a controller removes the finalizer. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (operation) => operation === 'CREATE',
  admit(attributes) {
    const finalizer = finalizerFor(attributes);
    if (finalizer === undefined || attributes.object === undefined) return;
    const { metadata } = attributes.object;
    const given = metadata.finalizers ?? [];
    if (!given.includes(finalizer)) metadata.finalizers = [...given, finalizer];
  },
};

function finalizerFor({ resource, subresource, context }: AdmissionAttributes): string | undefined {
  if (subresource !== '') return undefined;
  const core = resource.group === '';
  if (core && resource.resource === 'persistentvolumeclaims') return 'kubernetes.io/pvc-protection';
  if (core && resource.resource === 'persistentvolumes') return 'kubernetes.io/pv-protection';
  const ofAttributes = resource.group === 'storage.k8s.io' && resource.resource === 'volumeattributesclasses';
  return ofAttributes && context.features.enabled('VolumeAttributesClass') ? 'kubernetes.io/vac-protection' : undefined;
}
