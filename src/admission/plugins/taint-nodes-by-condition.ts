import type { Node } from '../../schema/generated/core.v1.js';
import { onlyFor } from '../forbid.js';
import type { AdmissionPlugin } from '../plugin.js';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A new node gets no pods until it is found ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: (operation) => operation === 'CREATE',
  admit: onlyFor('', 'nodes', (attributes) => {
    const { spec } = attributes.object as Node;
    const taints = spec.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
    spec.taints = [...taints, { ...NOT_READY }];
  }),
};
