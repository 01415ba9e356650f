import { type FieldErrors, type FieldPath } from '../../../../machinery/field-error.js';
import type { PersistentVolumeClaimTemplate } from '../../../../schema/generated/core.v1.js';
import { validateTemplateMeta } from '../../../template-meta.js';
import { validateClaimSpec } from '../../persistentvolumeclaim/validation.js';

export const validateClaimTemplate = (
  { metadata, spec }: Readonly<PersistentVolumeClaimTemplate>,
  path: FieldPath,
): FieldErrors => [
  ...validateTemplateMeta(metadata, path.child('metadata')),
  ...validateClaimSpec(spec, path.child('spec')),
];
