import { type FieldErrors, type FieldPath, forbidden } from '../machinery/field-error.js';
import { wasExplicitEmpty } from '../machinery/explicit-empty.js';
import type { ObjectMeta } from '../machinery/object.js';
import { validateAnnotations } from '../machinery/validation/object-meta.js';
import { validateLabels } from '../machinery/validation/label-selector.js';

/** What is decided by who makes an object from a template, in the order of the errors. */
const NOT_IN_TEMPLATES = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** The metadata of a template: of what is made from it, only labels and annotations come from there. */
export function validateTemplateMeta(metadata: Readonly<ObjectMeta>, path: FieldPath): FieldErrors {
  const errors = [
    ...validateAnnotations(metadata.annotations, path.child('annotations')),
    ...validateLabels(metadata.labels, path.child('labels')),
  ];
  for (const member of NOT_IN_TEMPLATES) {
    if ((metadata[member] ?? undefined) === undefined && !wasExplicitEmpty(metadata, member)) continue;
    errors.push(forbidden(path.child(member === 'uid' ? 'uID' : member), 'cannot be set'));
  }
  return errors;
}
