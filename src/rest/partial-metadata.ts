import type { KubeObject, ObjectMeta } from '../machinery/object.js';

export interface PartialMetadata {
  readonly kind: 'PartialObjectMetadata';
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
}

export const partialMetadata = (object: Readonly<KubeObject>, version: 'v1' | 'v1beta1'): PartialMetadata => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
});
