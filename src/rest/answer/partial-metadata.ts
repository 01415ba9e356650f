import type { KubeObject, ObjectMeta } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';

export interface PartialMetadata {
  readonly kind: 'PartialObjectMetadata';
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
}

export const partialMetadata = (
  { metadataAlone }: Pick<KindDefinition, 'metadataAlone'>,
  object: Readonly<KubeObject>,
  version: 'v1' | 'v1beta1',
): PartialMetadata => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: metadataAlone === undefined ? object.metadata : metadataAlone(object.metadata),
});
