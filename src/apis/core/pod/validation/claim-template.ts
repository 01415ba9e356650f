import { append } from '../../../../lib/append.js';
import { type FieldErrors, type FieldPath, forbidden } from '../../../../machinery/field-error.js';
import { validateAnnotations } from '../../../../machinery/validation/object-meta.js';
import { validateLabels } from '../../../../machinery/validation/label-selector.js';
import type { PersistentVolumeClaimTemplate } from '../../../../schema/generated/core.v1.js';
import { validateClaimSpec } from '../../persistentvolumeclaim/validation.js';

/** Everything else about a claim made from a template is decided by who makes it. */
const ALLOWED_METADATA: ReadonlySet<string> = new Set(['labels', 'annotations']);

export function validateClaimTemplate(
  { metadata, spec }: Readonly<PersistentVolumeClaimTemplate>,
  path: FieldPath,
): FieldErrors {
  const at = path.child('metadata');
  const errors = [
    ...validateAnnotations(metadata?.annotations, at.child('annotations')),
    ...validateLabels(metadata?.labels, at.child('labels')),
  ];
  for (const [member, value] of Object.entries(metadata ?? {})) {
    if (value === undefined || ALLOWED_METADATA.has(member)) continue;
    errors.push(forbidden(at.child(member === 'uid' ? 'uID' : member), 'cannot be set'));
  }
  append(errors, validateClaimSpec(spec, path.child('spec')));
  return errors;
}
