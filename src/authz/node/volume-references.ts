// The claim a volume is bound to, and the secrets a node needs to mount it.
import type { PersistentVolume } from '../../schema/generated/core.v1.js';
import { type ObjectKey, objectKey } from './graph.js';

export interface VolumeReferences {
  readonly claim: ObjectKey;
  readonly secrets: ReadonlySet<ObjectKey>;
}

/** Undefined for a volume that nobody claimed: no node needs it. */
export function volumeReferencesOf({ spec }: Readonly<Pick<PersistentVolume, 'spec'>>): VolumeReferences | undefined {
  const { claimRef } = spec;
  if (claimRef === undefined) return undefined;
  const namespace = claimRef.namespace ?? '';
  const secrets = new Set<ObjectKey>();
  const add = (name: string | undefined, inNamespace: string | undefined): void => {
    if (name) secrets.add(objectKey('secret', inNamespace ?? '', name));
  };
  const { azureFile, csi } = spec;
  if (azureFile) add(azureFile.secretName, azureFile.secretNamespace || namespace);
  // Of these, old volumes have no namespace: then it is the claim's.
  for (const type of ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi'] as const) {
    const reference = spec[type]?.secretRef;
    add(reference?.name, reference?.namespace || namespace);
  }
  for (const reference of [spec.cinder?.secretRef, spec.storageos?.secretRef]) {
    add(reference?.name, reference?.namespace);
  }
  // The secrets of the driver's controller are not for nodes.
  for (const reference of [csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef]) {
    add(reference?.name, reference?.namespace);
  }
  return { claim: objectKey('pvc', namespace, claimRef.name ?? ''), secrets };
}
