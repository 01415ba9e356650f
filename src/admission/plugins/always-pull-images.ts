import { containersWithPaths, allContainers } from '../../apis/core/pod/containers.js';
import {
  aggregateText,
  type FieldError,
  fieldErrorText,
  FieldPath,
  notSupported,
} from '../../machinery/field-error.js';
import { StatusError } from '../../machinery/status.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { forbid, isFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const ALWAYS = 'Always';

/** Nobody runs an image that only happens to lie on a node: every pull shows the credentials for it. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit(attributes) {
    if (!hasNewImages(attributes)) return;
    const { spec } = attributes.object as Pod;
    for (const container of allContainers(spec)) container.imagePullPolicy = ALWAYS;
    for (const { image } of spec.volumes ?? []) if (image) image.pullPolicy = ALWAYS;
  },
  validate(attributes) {
    if (!hasNewImages(attributes)) return;
    const wrong = otherPolicies(attributes.object as Pod);
    if (wrong.length > 0) throw refusal(attributes, wrong);
  },
};

/** An update that brings no image keeps what was decided before. */
function hasNewImages(attributes: AdmissionAttributes): boolean {
  if (!isFor(attributes, '', 'pods')) return false;
  if (attributes.operation !== 'UPDATE') return true;
  const known = new Set(allContainers((attributes.old as Pod).spec).map(({ image }) => image));
  return allContainers((attributes.object as Pod).spec).some(({ image }) => !known.has(image));
}

function otherPolicies({ spec }: Pod): FieldError[] {
  const path = FieldPath.of('spec');
  const errors: FieldError[] = [];
  for (const [container, at] of containersWithPaths(spec, path)) {
    const policy = container.imagePullPolicy ?? '';
    if (policy !== ALWAYS) errors.push(notSupported(at.child('imagePullPolicy'), policy, [ALWAYS]));
  }
  for (const [position, { image }] of (spec.volumes ?? []).entries()) {
    if (!image || image.pullPolicy === ALWAYS) continue;
    const at = path.child('volumes').index(position).child('image', 'pullPolicy');
    errors.push(notSupported(at, image.pullPolicy ?? '', [ALWAYS]));
  }
  return errors;
}

/** Refusals that were gathered are no Status of their own any more, not even a single one. */
const refusal = (attributes: AdmissionAttributes, wrong: readonly FieldError[]): StatusError =>
  new StatusError(500, '', aggregateText(wrong.map((error) => forbid(attributes, fieldErrorText(error)).message)));
