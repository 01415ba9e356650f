import { dropGatedFields, gated } from '../../../registry/gated-fields.js';
import type { FeatureGates } from '../../../registry/kind.js';
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference } from '../../../schema/generated/core.v1.js';

type Spec = PersistentVolumeClaimSpec;

/** Drops what gates forbid and the sources older servers ignored, then fills whichever of the two fields is unset. */
export function settleDataSources(spec: Spec, old: Readonly<Spec> | undefined, features: FeatureGates): void {
  dropGatedFields(GATED, spec, old, features);
  const crossNamespace = features.enabled('CrossNamespaceVolumeDataSource');
  if (!crossNamespace && spec.dataSourceRef?.namespace && old?.dataSourceRef === undefined) delete spec.dataSourceRef;

  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (!hadSource && spec.dataSourceRef === undefined && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
  if (features.enabled('AnyVolumeDataSource')) linkDataSources(spec);
}

const GATED = [
  gated<Spec>('VolumeAttributesClass', 'volumeAttributesClassName'),
  gated<Spec>('AnyVolumeDataSource', 'dataSourceRef'),
];

/** `dataSource` and `dataSourceRef` name the same source, for older and newer clients. */
function linkDataSources(spec: Spec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) spec.dataSourceRef = { ...dataSource };
  if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { apiGroup, kind, name } = dataSourceRef;
    spec.dataSource = { apiGroup: apiGroup ?? null, kind, name };
  }
}

function isClaimOrSnapshot(source: Readonly<TypedLocalObjectReference> | undefined): boolean {
  const group = source?.apiGroup ?? '';
  if (source?.kind === 'PersistentVolumeClaim') return group === '';
  return source?.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
}
