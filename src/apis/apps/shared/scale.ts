import type { KubeObject } from '../../../machinery/object.js';
import type { Subresource } from '../../../registry/kind.js';
import type { LabelSelector } from '../../../schema/generated/meta.v1.js';
import { selectorText } from '../../core/pod/template-strategy.js';

interface Replicated extends KubeObject {
  spec: { replicas?: number; selector: LabelSelector | null };
  status: { replicas?: number };
}

/** The scale subresource of the workloads that count their pods. */
export const scaleSubresource = <T extends Replicated>(): Subresource<T> => ({
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
    selector: ({ spec }) => selectorText(spec.selector),
  },
});
