import { forbidden } from '../../machinery/status.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { isFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

const HOSTNAME = 'kubernetes.io/hostname';

/** A pod may keep others off its node, but not off a whole zone. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    if (!isFor(attributes, '', 'pods')) return;
    const { metadata, spec } = attributes.object as Pod;
    const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wide = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (wide === undefined) return;
    throw forbidden(
      attributes.resource,
      metadata.name ?? '',
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ${HOSTNAME} is allowed`,
    );
  },
};
