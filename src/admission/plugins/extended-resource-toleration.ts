import { isExtendedResource } from '../../apis/core/pod/validation/resource-names.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import type { Pod, PodSpec, Toleration } from '../../schema/generated/core.v1.js';
import { isFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

/** Lets pods that request a device onto the nodes that are tainted to be kept for its users. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit(attributes) {
    if (!isFor(attributes, '', 'pods')) return;
    const { spec } = attributes.object as Pod;
    const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
    const names = new Set(containers.flatMap(({ resources }) => Object.keys(resources.requests ?? {})));
    for (const key of [...names].filter(isExtendedResource).sort()) {
      tolerate(spec, { key, operator: 'Exists', effect: 'NoSchedule' });
    }
  },
};

/** A toleration that differs at most in its seconds is replaced, not added again. */
function tolerate(spec: PodSpec, added: Toleration): void {
  const given = spec.tolerations ?? [];
  const matches = (toleration: Toleration): boolean =>
    toleration.key === added.key &&
    toleration.effect === added.effect &&
    toleration.operator === added.operator &&
    (toleration.value ?? '') === '';
  if (given.some((toleration) => deepEqual(toleration, added))) return;
  spec.tolerations = given.some(matches)
    ? given.map((toleration) => (matches(toleration) ? added : toleration))
    : [...given, added];
}
