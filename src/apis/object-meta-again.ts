// The metadata rules once more, for the kinds whose own rules on an update have them in between.
import type { FieldErrors } from '../machinery/field-error.js';
import { FieldPath } from '../machinery/field-error.js';
import type { ObjectMeta } from '../machinery/object.js';
import { nameIsDnsSubdomain } from '../machinery/validation/names.js';
import {
  type ObjectMetaRules,
  validateKubeFinalizers,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../machinery/validation/object-meta.js';

export const validateClusterMeta = (metadata: Readonly<ObjectMeta>): FieldErrors =>
  validateMetaAgain(metadata, { namespaced: false, validateName: nameIsDnsSubdomain });

export const validateNamespacedMeta = (metadata: Readonly<ObjectMeta>): FieldErrors =>
  validateMetaAgain(metadata, { namespaced: true, validateName: nameIsDnsSubdomain });

/** For rules that look at the change of metadata after all that holds for a new object. */
export const validateMetaUpdate = (metadata: Readonly<ObjectMeta>, old: Readonly<ObjectMeta>): FieldErrors => [
  ...validateObjectMetaUpdate(metadata, old),
  ...finalizerErrors(metadata),
];

const validateMetaAgain = (metadata: Readonly<ObjectMeta>, rules: ObjectMetaRules): FieldErrors => [
  ...validateObjectMeta(metadata, rules),
  ...finalizerErrors(metadata),
];

const finalizerErrors = ({ finalizers }: Readonly<ObjectMeta>): FieldErrors =>
  validateKubeFinalizers(finalizers, FieldPath.of('metadata', 'finalizers'));

/** What a status endpoint of the newer kind may not touch: everything of the metadata but the managed fields. */
export function keepMetaForStatus(metadata: ObjectMeta, old: Readonly<ObjectMeta>): void {
  for (const member of [
    'deletionTimestamp',
    'generation',
    'selfLink',
    'labels',
    'annotations',
    'finalizers',
    'ownerReferences',
  ] as const) {
    if (old[member] === undefined) delete metadata[member];
    else Object.assign(metadata, { [member]: old[member] });
  }
}
