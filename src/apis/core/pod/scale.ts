import type { KubeObject } from '../../../machinery/object.js';
import type { Subresource } from '../../../registry/kind.js';

type Replicated = KubeObject & {
  spec: { replicas?: number };
  status: { replicas?: number };
};

/** The scale subresource of the workloads that count their pods, which `selector` finds. */
export const scaleSubresource = <T extends Replicated>(selector: (object: Readonly<T>) => string): Subresource<T> => ({
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  verbs: ['get', 'patch', 'update'],
  scale: {
    specReplicas: ({ spec }) => spec.replicas ?? 0,
    setSpecReplicas: ({ spec }, replicas) => {
      spec.replicas = replicas;
    },
    statusReplicas: ({ status }) => status.replicas ?? 0,
    selector,
  },
});
